# Puts style, script and the script's hash where the page names them: a line of its own each.
function insert(file,	line)
{
	while ((getline line <file) > 0)
		print line
	close(file)
}
$0 == "@STYLE@" { insert(style); next }
$0 == "@SCRIPT@" { printf "<script>"; while ((getline line <script) > 0) printf "%s\n", line; print "</script>"; next }
{ sub(/@HASH@/, hash); print }

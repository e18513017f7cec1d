# Puts style, script and the script's hash where the page names them, and writes it as two files, head and tail: between them a served page's
# policy has more.
function insert(file,	line)
{
	while ((getline line <file) > 0)
		print line >out
	close(file)
}
BEGIN { out = head }
$0 == "@STYLE@" { insert(style); next }
$0 == "@SCRIPT@" { printf "<script>" >out; insert(script); print "</script>" >out; next }
{ sub(/@HASH@/, hash) }
(at = index($0, "@SERVED@")) {
	printf "%s", substr($0, 1, at - 1) >out
	out = tail
	print substr($0, at + length("@SERVED@")) >out
	next
}
{ print >out }

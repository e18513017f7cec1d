# Fills in the manual pages from the programs' own help, so that both say the same:
#
#   awk -v gpuprof=build/gpuprof -f docs/man/man.awk docs/gpuprof.1
#
# A line `.\" OPTIONS COMMAND` becomes the options of a command, `.\" COMMANDS` a section for each command.

function roff(text) {
	gsub(/\\/, "\\e", text)
	gsub(/--/, "\\-\\-", text)
	sub(/^[.']/, "\\\\\\&&", text)
	return text
}

# The name of an entry, bold: every hyphen is one to type.
function name(text) {
	gsub(/\\/, "\\e", text)
	gsub(/-/, "\\-", text)
	return text
}

function leave_example() {
	if (in_example)
		print ".fi\n.RE"
	in_example = 0
}

# What stands before two spaces is explained by what follows, here and on the lines below.
function begin_entry(line,    gap) {
	sub(/^ +/, "", line)
	gap = match(line, /  +/)
	print ".TP\n.B " name(gap ? substr(line, 1, gap - 1) : line)
	if (gap)
		print roff(substr(line, gap + RLENGTH))
	in_entry = 1
}

function put_example(line) {
	if (!in_example)
		print ".PP\n.RS\n.nf"
	in_example = 1
	sub(/^ +/, "", line)
	print name(line)
}

function put_text(line) {
	leave_example()
	if (in_entry || !in_paragraph)
		print ".PP"
	in_entry = 0
	in_paragraph = 1
	print roff(line)
}

function put_line(line) {
	if (line == "") {
		leave_example()
		in_entry = in_paragraph = 0
	} else if (line ~ /^[^ ]/) {
		put_text(line)
	} else if (line ~ /^ +-/) {
		begin_entry(line)
	} else if (line ~ /^          / && in_entry) {
		sub(/^ +/, "", line)
		print roff(line)
	} else if (line ~ /^  gpuprof / || line ~ /^  [^ ].* \.\/app/) {
		put_example(line)
	} else {
		begin_entry(line)
	}
}

# Only entries that begin with a hyphen.
function put_options(command,    line, inside) {
	command = gpuprof " " command " --help"
	while ((command | getline line) > 0) {
		inside = line ~ /^ +-/ || (inside && line ~ /^          /)
		if (inside)
			put_line(line)
	}
	close(command)
	in_entry = 0
}

function put_command(command,    line) {
	command = gpuprof " " command " --help"
	while ((command | getline line) > 0)
		if (sub(/^usage: /, "", line))
			print ".SS " name(line)
		else
			put_line(line)
	close(command)
	put_line("")
}

# Those that the program's help lists; what runs programs has a page of its own, and two have nothing to tell.
function put_commands(    help, line, words) {
	help = gpuprof " help"
	while ((help | getline line) > 0) {
		if (line !~ /^  [a-z]/ || line ~ /^  gpuprof/)
			continue
		split(line, words, " ")
		if (words[1] !~ /^(run|version|help)$/)
			put_command(words[1])
	}
	close(help)
}

/^\.\\" OPTIONS / {
	put_options($3)
	next
}

/^\.\\" COMMANDS/ {
	put_commands()
	next
}

{ print }

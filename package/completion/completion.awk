# Shell completion, made from the programs' own help, so that both say the same:
#
#   awk -v gpuprof=build/gpuprof -f package/completion/completion.awk package/completion/gpuprof.bash

function quoted(text) {
	gsub(/'/, "'\\''", text)
	return "'" text "'"
}

# The words of a line of help, one for each entry of a section or of a whole text.
function entries(command, section,    line, words, found, inside) {
	inside = section == ""
	while ((command | getline line) > 0)
		if (section != "" && line ~ /^[^ ]/)
			inside = line == section
		else if (inside && split(line, words, " ") > 1)
			found = found " " words[1]
	close(command)
	return substr(found, 2)
}

# The words that the value of an option can be; "" if it is free.
function values(value, meaning,    end) {
	if (meaning ~ /^print tables: / && value ~ /^WHAT,/)
		return tables
	if (value == "FORMAT" && meaning ~ /see below|gpuprof export/)
		return formats
	if (value == "WHAT" && meaning ~ /see below|gpuprof export/)
		return measures
	if (value ~ /\|/) {
		sub(/^LIST\|/, "", value)
		sub(/:NAME@DOMAIN/, ":", value)
		gsub(/\|/, " ", value)
		return value
	}
	sub(/;.*/, "", meaning)
	sub(/^write /, "", meaning)
	sub(/ \(default\)/, "", meaning)
	if (value != "FORMAT" || meaning !~ /^[a-z]+(, [a-z]+)* or [a-z]+$/)
		return ""
	gsub(/,| or /, " ", meaning)
	gsub(/  +/, " ", meaning)
	return meaning
}

function is_file(value) {
	return value ~ /^(OUT|NAME|WHERE|FILE|SNAP|BASE|THRESHOLDS)$/
}

# The first clause, which is enough beside the name of an option.
function clause(meaning) {
	sub(/ \[[A-Z_0-9]+\]$/, "", meaning)
	sub(/([;:]|\.) .*/, "", meaning)
	sub(/ \(.*/, "", meaning)
	return meaning
}

function end_option(    at) {
	if (name == "")
		return
	options[command]++
	at = command SUBSEP options[command]
	long[at] = name
	short[at] = letter
	takes[at] = value
	words_of[at] = values(value, meaning)
	is_list[at] = value ~ /,/ || meaning ~ /comma-separated list/
	about[at] = clause(meaning)
	name = ""
}

function read_options(    help, line, gap) {
	help = gpuprof " " command " --help"
	while ((help | getline line) > 0) {
		if (line ~ /^(  -., |      )--[a-z]/) {
			end_option()
			sub(/^ +/, "", line)
			letter = sub(/^-/, "", line) && line !~ /^-/ ? substr(line, 1, 1) : ""
			sub(/^(., -)?-/, "", line)
			gap = match(line, /  +/)
			meaning = gap ? substr(line, gap + RLENGTH) : ""
			line = gap ? substr(line, 1, gap - 1) : line
			sub(/\[=.*/, "", line) # an optional value: as a flag
			name = value = line
			sub(/ .*/, "", name)
			if (!sub(/^[^ ]+ /, "", value))
				value = ""
		} else if (name != "" && line ~ /^          /) {
			sub(/^ +/, "", line)
			meaning = meaning (meaning == "" ? "" : " ") line
		} else {
			end_option()
		}
		if (line ~ /^usage: gpuprof metrics [a-z]/ || (command == "metrics" && line ~ /^       gpuprof metrics [a-z]/)) {
			sub(/.*metrics /, "", line)
			sub(/ .*/, "", line)
			first[command] = first[command] (first[command] == "" ? "" : " ") line
		}
	}
	close(help)
	end_option()
}

function read_commands(    help, line, i) {
	help = gpuprof " help"
	while ((help | getline line) > 0) {
		if (line !~ /^  [a-z]/ || line ~ /^  gpuprof/)
			continue
		$0 = line
		commands[++count] = command = $1
		starts_program[command] = line ~ /PROGRAM/
		while (match(line, /  +/))
			line = substr(line, RSTART + RLENGTH)
		purpose[command] = line
	}
	close(help)
	formats = entries(gpuprof " export --help", "Formats:")
	measures = entries(gpuprof " export --help", "Values:")
	tables = entries(gpuprof " summary --by help", "")
	for (i = 1; i <= count; i++) {
		command = commands[i]
		if (command != "version" && command != "help")
			read_options()
	}
	first["trace"] = entries(gpuprof " trace --help", "Lists:")
	first["explain"] = entries(gpuprof " explain --list", "") " " entries(gpuprof " explain --causes", "")
}

# ---- bash ----

function bash_options(    i, o, at, flags, valued, all) {
	for (i = 1; i <= count; i++)
		all = all (i > 1 ? " " : "") commands[i]
	print "\t'') flags='--help --version' first=" quoted(all) " ;;"
	for (i = 1; i <= count; i++) {
		flags = valued = ""
		for (o = 1; o <= options[commands[i]]; o++) {
			at = commands[i] SUBSEP o
			at = (takes[at] != "" ? "v" : "f") (short[at] != "" ? " -" short[at] : "") " --" long[at]
			if (sub(/^v/, "", at))
				valued = valued at
			else
				flags = flags substr(at, 2)
		}
		print "\t" commands[i] ") flags=" quoted(substr(flags, 2)) " valued=" quoted(substr(valued, 2)) \
			" first=" quoted(first[commands[i]]) \
			(starts_program[commands[i]] ? " starts_program=1" : "") " ;;"
	}
}

function bash_values(    i, o, at) {
	for (i = 1; i <= count; i++)
		for (o = 1; o <= options[commands[i]]; o++) {
			at = commands[i] SUBSEP o
			if (words_of[at] != "")
				print "\t" quoted(commands[i] " --" long[at]) (short[at] != "" ? "|" quoted(commands[i] " -" short[at]) : "") \
					") words=" quoted(words_of[at]) (is_list[at] ? " list=1" : "") " ;;"
		}
}

# ---- zsh ----

function zsh_option(at,    text, spec) {
	text = about[at]
	gsub(/\[|\]|:|\\/, "\\\\&", text)
	spec = "[" text "]"
	if (takes[at] != "")
		spec = spec ":" (words_of[at] != "" ? "word" : "value") ":" (words_of[at] == "" ? (is_file(takes[at]) ? "_files" : " ") : \
			is_list[at] ? "_sequence compadd - " words_of[at] : "(" words_of[at] ")")
	if (short[at] == "")
		return quoted("--" long[at] (takes[at] != "" ? "=" : "") spec)
	return "'(-" short[at] " --" long[at] ")'{-" short[at] (takes[at] != "" ? "+" : "") ",--" long[at] (takes[at] != "" ? "=" : "") "}" quoted(spec)
}

function zsh_commands(    i) {
	for (i = 1; i <= count; i++)
		print "\t\t" quoted(commands[i] ":" purpose[commands[i]])
}

function zsh_options(    i, o, name) {
	for (i = 1; i <= count; i++) {
		name = commands[i]
		print "\t" name ")\n\t\t_arguments -s -S \\"
		for (o = 1; o <= options[name]; o++)
			print "\t\t\t" zsh_option(name SUBSEP o) " \\"
		if (first[name] != "")
			print "\t\t\t" quoted("1:word:(" first[name] ")") " \\"
		print "\t\t\t" (starts_program[name] ? "'*:::program:_normal'" : "'*:file:_files'") "\n\t\t;;"
	}
}

# ---- fish ----

function fish_option(program, condition, at) {
	print "complete -c " program condition (short[at] != "" ? " -s " short[at] : "") " -l " long[at] \
		(words_of[at] != "" ? " -x -a " quoted(is_list[at] ? "(__fish_append , " words_of[at] ")" : words_of[at]) : \
		takes[at] == "" ? "" : is_file(takes[at]) ? " -r" : " -x") " -d " quoted(about[at])
}

function fish_all(    i, o, name, condition) {
	for (i = 1; i <= count; i++) {
		name = commands[i]
		condition = " -n " quoted("__fish_seen_subcommand_from " name)
		print "complete -c gpuprof -n __fish_use_subcommand -x -a " name " -d " quoted(purpose[name])
		for (o = 1; o <= options[name]; o++)
			fish_option("gpuprof", condition, name SUBSEP o)
		if (starts_program[name])
			print "complete -c gpuprof" condition " -x -a '(__fish_complete_subcommand --fcs-skip=2)'"
		if (first[name] != "")
			print "complete -c gpuprof" condition " -a " quoted(first[name])
	}
	for (o = 1; o <= options["run"]; o++)
		fish_option("gpuprof-run", "", "run" SUBSEP o)
	print "complete -c gpuprof-run -x -a '(__fish_complete_subcommand --fcs-skip=1)'"
}

BEGIN { read_commands() }
/^# BASH OPTIONS/ { bash_options(); next }
/^# BASH VALUES/ { bash_values(); next }
/^# ZSH COMMANDS/ { zsh_commands(); next }
/^# ZSH OPTIONS/ { zsh_options(); next }
/^# FISH/ { fish_all(); next }
{ print }

# Completion of gpuprof and gpuprof-run for bash.

# the flags, the options with a value, and the first words of a command
_gpuprof_command() {
	flags='' valued='' first='' starts_program=''
	case $1 in
# BASH OPTIONS
	esac
}

# the words that the value of an option can be
_gpuprof_values() {
	words='' list=''
	case $1 in
# BASH VALUES
	esac
}

# The program that gpuprof-run starts is the first word that belongs to no option.
_gpuprof_find_program() {
	while ((at < COMP_CWORD)); do
		case ${COMP_WORDS[at]} in
		--) ((at++)); return ;;
		-*)
			if [[ ${COMP_WORDS[at + 1]} == = ]]; then
				((at += 3))
			elif [[ " $valued " == *" ${COMP_WORDS[at]} "* ]]; then
				((at += 2))
			else
				((at++))
			fi
			;;
		*) return ;;
		esac
	done
}

_gpuprof() {
	local IFS=$' \t\n' at=1 command=run flags valued first starts_program words list prefix=''
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}

	COMPREPLY=()
	if [[ ${1##*/} == gpuprof ]]; then
		command=''
		((COMP_CWORD > 1)) && command=${COMP_WORDS[1]} at=2
	fi
	_gpuprof_command "$command"
	if [[ $starts_program ]]; then
		_gpuprof_find_program
		if ((at < COMP_CWORD)) && declare -F _command_offset >/dev/null; then
			_command_offset $at
			return
		fi
		((at < COMP_CWORD)) && return
	fi
	# --option=value is three words
	if [[ $cur == = ]]; then
		cur=''
	elif [[ $prev == = ]]; then
		prev=${COMP_WORDS[COMP_CWORD - 2]}
	fi
	if [[ " $valued " == *" $prev "* ]]; then
		_gpuprof_values "$command $prev"
		if [[ $list && $cur == *,* ]]; then
			prefix=${cur%,*},
			cur=${cur##*,}
		fi
		COMPREPLY=($(compgen -P "$prefix" -W "$words" -- "$cur"))
	elif [[ $cur == -* ]]; then
		COMPREPLY=($(compgen -W "$flags $valued" -- "$cur"))
	elif [[ $starts_program ]]; then
		COMPREPLY=($(compgen -c -- "$cur"))
	elif ((COMP_CWORD == at)); then
		COMPREPLY=($(compgen -W "$first" -- "$cur"))
	fi
}

complete -o bashdefault -o default -F _gpuprof gpuprof gpuprof-run

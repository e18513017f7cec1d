#compdef gpuprof gpuprof-run
# Completion of gpuprof and gpuprof-run for zsh.

local command=run commands
commands=(
# ZSH COMMANDS
)
if [[ $service == gpuprof ]]; then
	if ((CURRENT == 2)); then
		_describe command commands
		return
	fi
	shift words
	((CURRENT--))
	command=$words[1]
fi
case $command in
# ZSH OPTIONS
esac

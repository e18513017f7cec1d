/* The page of `gpuprof html`, as report/html/web/ builds it (`make page`). */
	.section .rodata
	.global	gp_html_page
	.global	gp_html_page_end
	.hidden	gp_html_page
	.hidden	gp_html_page_end
gp_html_page:
	.incbin	"report/html/page.built.html"
gp_html_page_end:
	.byte	0
	.section .note.GNU-stack, "", %progbits

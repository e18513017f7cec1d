/* The page of report/html/web/, as the Makefile put it together. */
	.section .rodata
	.global	gp_html_page
	.global	gp_html_page_end
	.hidden	gp_html_page
	.hidden	gp_html_page_end
gp_html_page:
	.incbin	"page.html"
gp_html_page_end:
	.byte	0
	.section .note.GNU-stack, "", %progbits

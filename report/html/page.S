/* The page of report/html/web/, as the Makefile put it together: gp_html_page_rest is where its policy may go on. */
	.section .rodata
	.global	gp_html_page
	.global	gp_html_page_rest
	.global	gp_html_page_end
	.hidden	gp_html_page
	.hidden	gp_html_page_rest
	.hidden	gp_html_page_end
gp_html_page:
	.incbin	"page.head"
gp_html_page_rest:
	.incbin	"page.tail"
gp_html_page_end:
	.byte	0
	.section .note.GNU-stack, "", %progbits

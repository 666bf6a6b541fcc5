import { siteTheme, THEME_CSS } from './site-theme.ts'

/** The theme, the page and its header. */
export const HEADER_STYLE = `${THEME_CSS}
body{margin:0;font:1rem/1.55 var(--font);background:var(--background);color:var(--text)}
.top{display:flex;flex-wrap:wrap;gap:.25rem 1.25rem;align-items:center;padding:.75rem 1.25rem;border-bottom:1px solid var(--border)}
.top a{color:inherit;text-decoration:none;padding:.25rem 0}
.top a:hover{text-decoration:underline}
.brand{display:inline-flex;gap:.5rem;align-items:center;font-weight:700;margin-inline-end:auto}
.brand svg{stroke:var(--link)}
`

/** The style sheet of all pages outside the console: small ones, the front page, the guides. */
export const SITE_STYLE = `${HEADER_STYLE}
*{box-sizing:border-box}
html{scroll-padding-top:1rem}
a{color:var(--link)}
:focus-visible{outline:2px solid var(--link);outline-offset:2px}
h1{font-size:${siteTheme.title};line-height:1.3}
h2{font-size:${siteTheme.subtitle};margin-top:2rem}
h3{font-size:1.05rem}
small,.dimmed{color:var(--dimmed)}
img{max-width:100%;height:auto}
main{max-width:28rem;margin:0 auto;padding:2rem 1.25rem 4rem}
.wide main{max-width:72rem}
button,input,.button{font:inherit;padding:.6rem .9rem;border-radius:var(--radius);border:1px solid var(--border)}
button,input{width:100%;margin:.25rem 0;background:var(--surface);color:inherit}
button{cursor:pointer;text-align:left}
.button{display:inline-block;text-decoration:none;font-weight:600}
.button.primary{background:var(--primary);border-color:var(--primary);color:var(--on-primary)}
code,pre{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-size:.875rem}
code{overflow-wrap:anywhere}
pre{padding:.75rem 1rem;border-radius:var(--radius);background:var(--surface);border:1px solid var(--border);white-space:pre-wrap;overflow-wrap:anywhere}
.problem{border-left:.3rem solid var(--error);padding-left:.8rem}
.actions{display:flex;flex-wrap:wrap;align-items:flex-start;gap:.75rem}
.hint{display:block;font-weight:400;color:inherit}
.status{font-size:.95rem}
.cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(16rem,1fr));gap:1rem;padding:0;list-style:none}
.cards>*{border:1px solid var(--border);border-radius:var(--radius);padding:1rem 1.25rem;background:var(--surface)}
.cards h2,.cards h3{margin-top:0}
.lead{font-size:1.2rem;max-width:46rem}
.picture{display:block;width:100%;border:1px solid var(--border);border-radius:var(--radius);margin:1.5rem 0}
.guide{display:grid;grid-template-columns:14rem minmax(0,1fr);gap:2.5rem;overflow-wrap:anywhere}
.guide article{grid-column:2;grid-row:1;min-width:0}
.guide nav{font-size:.9rem}
.guide nav h2{font-size:.9rem;margin:1.25rem 0 .25rem}
.contents{margin-bottom:1.5rem;border:1px solid var(--border);border-radius:var(--radius);padding:.5rem 1rem}
.guide nav ul{padding-left:1rem;margin:.25rem 0}
.guide nav li{margin:.2rem 0}
.guide nav a{text-decoration:none}
.guide nav a[aria-current]{font-weight:700;color:inherit}
.guide article>h1:first-child{margin-top:0}
.guide .table{overflow-x:auto}
.guide table{border-collapse:collapse;font-size:.9rem;overflow-wrap:normal}
.guide table code{overflow-wrap:normal}
.guide th,.guide td{border:1px solid var(--border);padding:.4rem .6rem;text-align:left;vertical-align:top}
.guide th{background:var(--surface)}
.guide blockquote{margin:0;padding-left:1rem;border-left:.3rem solid var(--border);color:var(--dimmed)}
@media(max-width:48rem){.guide{grid-template-columns:minmax(0,1fr);gap:1rem}.guide article{grid-column:1}}
`

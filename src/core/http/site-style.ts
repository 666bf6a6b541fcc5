import { siteTheme, THEME_CSS } from './site-theme.ts'

/** The theme, the page and its header. */
export const HEADER_STYLE = `${THEME_CSS}
:root{--side:max(1.25rem,(100% - 72.5rem)/2)}
body{margin:0;font:450 1rem/1.55 var(--font);-webkit-font-smoothing:antialiased;background:var(--background);color:var(--text)}
.top,.top nav{display:flex;gap:.25rem 1.75rem;align-items:center}
.top{min-height:4rem;padding:0 var(--side)}
.top a{color:var(--dimmed);text-decoration:none;padding:.6rem 0;font-size:.9375rem;font-weight:550;white-space:nowrap}
.top a:hover{color:var(--text)}
.top .brand{display:inline-flex;gap:.6rem;align-items:center;font-size:1rem;font-weight:650;letter-spacing:-.015em;color:var(--text);margin-inline-end:auto}
.mark{stroke:var(--link);fill:var(--link)}
@media(max-width:40rem){.top nav{gap:1.25rem}.top .more{display:none}}
`

/** The style sheet of all pages outside the console: small ones, the front page, the guides. */
export const SITE_STYLE = `${HEADER_STYLE}
*{box-sizing:border-box}
html{scroll-padding-top:1rem;-webkit-text-size-adjust:100%}
a{color:var(--link);text-underline-offset:.2em}
:focus-visible{outline:2px solid var(--link);outline-offset:2px}
h1,h2,h3{font-weight:650;line-height:1.25;text-wrap:balance}
h1{font-size:${siteTheme.title};letter-spacing:-.02em}
h2{font-size:${siteTheme.subtitle};letter-spacing:-.02em;margin-top:2rem}
h3{font-size:1.05rem}
b,strong,th{font-weight:600}
p{text-wrap:pretty}
small,.dimmed{color:var(--dimmed)}
small{font-size:.875rem}
img{max-width:100%;height:auto}
main{max-width:29rem;margin:0 auto;padding:0 1.25rem 4rem}
body:not(.wide) .top{max-width:29rem;margin:0 auto;padding:clamp(1.5rem,10vh,6rem) 1.25rem .5rem}
body:not(.wide) .mark{width:40px;height:40px}
.wide main{max-width:none;padding:1rem var(--side) 4rem}
button,input,.button{font:inherit;font-weight:550;min-height:2.75rem;padding:.5rem 1rem;border-radius:var(--radius);border:1px solid var(--edge);background:var(--surface);color:inherit}
table,.figures,.status,.initials{font-variant-numeric:tabular-nums}
input{font-weight:450;width:100%}
::placeholder{color:var(--dimmed);opacity:.85}
button{cursor:pointer}
button:hover,.button:hover{border-color:var(--link)}
.button{display:inline-flex;align-items:center;justify-content:center;text-decoration:none}
.primary{background:var(--primary);border-color:var(--primary);color:var(--on-primary)}
.big{min-height:3.5rem;padding:.75rem 1.75rem;font-size:1.0625rem;border-radius:14px}
.quiet{border:0;padding:0;background:none;color:var(--link);text-decoration:underline;text-underline-offset:.2em}
label{display:block;font-weight:550;margin-bottom:.4rem}
.line{display:flex;gap:.5rem}
.line input{flex:1;min-width:0}
.people{display:grid;gap:.5rem;margin:1.5rem 0}
.people button{display:flex;gap:.85rem;align-items:center;text-align:start;padding:.7rem 1rem}
.people b,.people small{display:block;line-height:1.4}
.people small{font-weight:450}
.role{text-transform:capitalize}
.code{font-size:1.5rem;letter-spacing:.06em}
.initials{flex:none;display:grid;place-items:center;width:2.5rem;height:2.5rem;border-radius:50%;background:var(--soft);color:var(--link);font-size:.875rem;font-weight:650}
code,pre{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-size:.875rem}
code{overflow-wrap:anywhere}
pre{margin:0;padding:1rem 1.25rem;border-radius:14px;background:var(--surface);border:1px solid var(--border);line-height:1.7;white-space:pre-wrap;overflow-wrap:anywhere}
pre code{font-size:inherit}
.problem{border-left:.25rem solid var(--error);padding-left:1rem}
.actions{display:flex;flex-wrap:wrap;align-items:center;gap:.75rem}
.cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,20rem),1fr));gap:1rem;padding:0;list-style:none}
.cards>*{border:1px solid var(--border);border-radius:14px;padding:1.25rem 1.5rem;background:var(--surface)}
.cards h2,.cards h3{margin-top:0}
.cards ul{padding-left:1.1rem;margin:0}
.cards a{text-decoration:none}
.cards a:hover{text-decoration:underline}
.cards li{margin:.3rem 0}
.lead{font-size:1.125rem;max-width:46rem;color:var(--dimmed)}
.hero{text-align:center;padding-top:clamp(1rem,4vh,3rem)}
.hero h1{font-size:clamp(2.125rem,5.4vw,4rem);line-height:1.06;letter-spacing:-.035em;margin:0 auto 1.25rem}
.hero h1 span{display:block;text-wrap:balance}
.hero .lead{margin:0 auto 2rem;max-width:41rem;font-size:clamp(1.0625rem,1.5vw,1.25rem)}
.hero .actions{justify-content:center;gap:.75rem 1.75rem}
.hero .actions a:not(.button){padding:.6rem 0;font-weight:550;text-decoration:none}
.picture{display:block;width:100%;border-radius:14px;box-shadow:0 0 0 1px var(--edge)}
.hero .picture{margin-top:2.5rem;box-shadow:0 0 0 1px var(--edge),0 2rem 5rem -1.5rem rgb(0 0 0/.4)}
.band,.figures{margin:0;padding:4.5rem 0}
.band{border-top:1px solid var(--border)}
.band h2{font-size:clamp(1.625rem,3vw,2.125rem);letter-spacing:-.028em;margin:0 0 2rem}
.figures,.steps,.pair{display:grid;gap:2.5rem;list-style:none}
.figures{grid-template-columns:repeat(4,1fr)}
.figures b{display:block;font-size:2.5rem;line-height:1.15;font-weight:650;letter-spacing:-.035em}
.figures span,.steps p,figcaption,.pair p,.safety p{color:var(--dimmed)}
.figures span{display:block;margin-top:.4rem;font-size:.9375rem}
.steps{grid-template-columns:repeat(3,1fr);padding:0;margin:0;counter-reset:step}
.steps li{border-top:2px solid var(--text);padding-top:1rem;counter-increment:step}
.steps h3{font-size:1.25rem;letter-spacing:-.02em;margin:0}
.steps h3::before{content:counter(step);display:block;margin-bottom:.35rem;font-size:1rem;letter-spacing:0;color:var(--dimmed)}
.steps p{margin:.4rem 0 0}
.pair{grid-template-columns:repeat(2,minmax(0,1fr));align-items:center}
.pair:has(pre){grid-template-columns:minmax(0,1fr) minmax(0,1.3fr)}
.pair figure{margin:0}
.pair h2{margin-bottom:1rem}
figcaption{margin-top:1rem}
figcaption b,.safety b{color:var(--text)}
pre i{font-style:normal;color:var(--link)}
pre q{quotes:none;color:var(--live)}
.safety{display:flex;gap:1.1rem;padding:1.25rem 1.5rem;border:1px solid var(--border);border-radius:14px;background:var(--surface)}
.safety p{margin:0}
.safety svg{flex:none;color:var(--error)}
footer{border-top:1px solid var(--border);padding:1.5rem var(--side);font-size:.875rem;color:var(--dimmed)}
footer,footer nav{display:flex;flex-wrap:wrap;gap:.5rem 1.75rem}
footer a{color:inherit;text-decoration:none;padding:.35rem 0}
footer a:hover{color:var(--text)}
.status{margin:0 auto 0 0;padding:.35rem 0}
.status b{color:var(--live)}
.status.down b{color:var(--error)}
.status svg{vertical-align:-.1em;margin-inline-end:.4rem}
.guide{display:grid;grid-template-columns:14rem minmax(0,1fr);gap:3rem;overflow-wrap:anywhere}
.guide article{grid-column:2;grid-row:1;min-width:0;max-width:56rem}
.guide article>h1:first-child{margin-top:0;font-size:2rem;letter-spacing:-.028em}
.guide article pre{margin:1rem 0}
.guide nav{font-size:.9rem}
.guide nav h2{font-size:.875rem;letter-spacing:0;margin:1.5rem 0 .25rem}
.guide nav ul{list-style:none;padding:0;margin:0}
.guide nav a{display:block;padding:.2rem 0;text-decoration:none;color:var(--dimmed)}
.guide nav a:hover{color:var(--text)}
.guide nav a[aria-current]{font-weight:600;color:var(--link)}
.contents{margin-bottom:1.5rem;border:1px solid var(--border);border-radius:var(--radius);padding:.6rem 1rem;background:var(--surface)}
.contents summary{cursor:pointer;font-weight:550}
.guide .table{overflow-x:auto}
.guide table{border-collapse:collapse;font-size:.9rem;overflow-wrap:normal}
.guide table code{overflow-wrap:normal}
.guide th,.guide td{border-bottom:1px solid var(--border);padding:.5rem .9rem .5rem 0;text-align:left;vertical-align:top}
.guide blockquote{margin:0;padding-left:1rem;border-left:.25rem solid var(--border);color:var(--dimmed)}
.guide article img{border-radius:var(--radius)}
@media(max-width:54rem){.guide,.steps,.pair,.pair:has(pre){grid-template-columns:minmax(0,1fr);gap:2rem}.guide article{grid-column:1}.figures{grid-template-columns:1fr 1fr;gap:2rem 1.25rem}.figures b{font-size:2rem}.band,.figures{padding:3rem 0}.hero .picture{margin-top:2rem}}
@media(max-width:40rem){.hero .button{width:100%}.hero .actions{flex-direction:column}}
`

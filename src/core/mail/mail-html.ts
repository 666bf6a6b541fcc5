import { template } from '../http/html-page.ts'
import { siteTheme } from '../http/site-theme.ts'

const { font, radius, light, dark } = siteTheme

/** One entry of a mail: a short line such as a time, and a text. */
interface MailEntry {
  readonly caption: string
  readonly text: string
}

/** The content of the HTML part of a mail. All texts are escaped. */
export interface MailContent {
  /** The language of the texts, as an ISO 639 code. */
  readonly language: string
  readonly title: string
  readonly entries: readonly MailEntry[]
  /** A line after the entries. */
  readonly remark?: string | undefined
  /** The only button. */
  readonly button: { readonly label: string; readonly url: string }
  /** Why the recipient gets the mail, and a link that ends it. */
  readonly footer: { readonly text: string; readonly label: string; readonly url: string }
}

/**
 * Mail programs ignore style sheets in part, so the light colours are attributes. Programs with a dark scheme apply the
 * style sheet, or invert colours themselves. Nothing is loaded from another place.
 */
const layout = template<MailContent>(`<!doctype html>
<html lang="<%= it.language %>"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><meta name="supported-color-schemes" content="light dark">
<title><%= it.title %></title>
<style>:root{color-scheme:light dark;supported-color-schemes:light dark}
@media(prefers-color-scheme:dark){.page{background:${dark.background}!important;color:${dark.text}!important}
.dimmed{color:${dark.dimmed}!important}.link{color:${dark.link}!important}.rule{border-color:${dark.border}!important}}</style></head>
<body class="page" style="margin:0;background:${light.background};color:${light.text};font-family:${font};font-size:16px;line-height:1.5">
<table role="presentation" width="100%" cellspacing="0" cellpadding="0"><tr><td align="center" style="padding:24px 16px">
<table role="presentation" width="100%" cellspacing="0" cellpadding="0" style="max-width:560px;text-align:left"><tr><td>
<p style="margin:0 0 24px;font-weight:650">Wheelhouse</p>
<h1 style="margin:0 0 16px;font-size:24px;line-height:1.25;font-weight:650;letter-spacing:-0.02em"><%= it.title %></h1>
<% for (const { caption, text } of it.entries) { %><p style="margin:0 0 16px"><span class="dimmed" style="color:${light.dimmed};font-size:14px"><%= caption %></span><br>
<%= text %></p>
<% } %><% if (it.remark) { %><p class="dimmed" style="margin:0 0 16px;color:${light.dimmed}"><%= it.remark %></p>
<% } %><p style="margin:24px 0"><a href="<%= it.button.url %>" style="display:inline-block;padding:12px 20px;border-radius:${radius};background:${light.primary};color:${light['on-primary']};font-weight:550;text-decoration:none"><%= it.button.label %></a></p>
<p class="dimmed rule" style="margin:32px 0 0;padding-top:16px;border-top:1px solid ${light.border};color:${light.dimmed};font-size:14px"><%= it.footer.text %><br>
<a class="link" href="<%= it.footer.url %>" style="color:${light.link}"><%= it.footer.label %></a></p>
</td></tr></table></td></tr></table></body></html>
`)

/** Renders the HTML part of a mail. The same content results in the same text. */
export const mailHtml = (content: MailContent): string => layout(content).toString()

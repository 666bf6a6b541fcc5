import { posix } from 'node:path'
import { Marked, Renderer, type Tokens } from 'marked'
import { getHeadingList, gfmHeadingId } from 'marked-gfm-heading-id'
import { Html } from '../../../core/http/html-page.ts'

/** Finds the address of a file or folder of the repository; undefined when no page shows it. */
export type FindAddress = (path: string) => string | undefined

export interface RenderedDocument {
  /** The title. */
  readonly heading: Html
  /** The text after the title. */
  readonly html: Html
  /** The second-level headings. */
  readonly headings: readonly { readonly id: string; readonly text: Html }[]
}

/**
 * Renders a document of this repository. Its links to other documents lead to their pages; a link to a file that no page
 * shows becomes plain text. Never call it with text of users: Markdown may contain any HTML.
 */
export function renderMarkdown(text: string, file: string, findAddress: FindAddress): RenderedDocument {
  const addressOf = (href: string) => resolveLink(href, file, findAddress)
  const marked = new Marked(gfmHeadingId(), {
    renderer: {
      link(token: Tokens.Link) {
        const content = this.parser.parseInline(token.tokens)
        const href = addressOf(token.href)
        return href === undefined ? content : `<a href="${escapeAttribute(href)}">${content}</a>`
      },
      image(token: Tokens.Image) {
        const source = addressOf(token.href)
        return source === undefined
          ? escapeAttribute(token.text)
          : `<img src="${escapeAttribute(source)}" alt="${escapeAttribute(token.text)}" loading="lazy">`
      },
      table(token: Tokens.Table) {
        return `<div class="table" tabindex="0">${Renderer.prototype.table.call(this, token)}</div>`
      },
    },
  })
  const markup = marked.parse(text, { async: false })
  const headings = getHeadingList()
    .filter(({ level }) => level === 2)
    .map(({ id, text }) => ({ id, text: new Html(text.replaceAll(/<\/?a\b[^>]*>/g, '')) }))
  const end = markup.startsWith('<h1') ? markup.indexOf('</h1>') + '</h1>'.length : 0
  return { heading: new Html(markup.slice(0, end)), html: new Html(markup.slice(end)), headings }
}

/** Returns the address of a link in a document; undefined when nothing on this site shows its target. */
function resolveLink(href: string, file: string, findAddress: FindAddress): string | undefined {
  if (/^(https?:|mailto:|#|\/)/.test(href)) return href
  const [path = '', hash] = href.split('#')
  const address = findAddress(posix.join(posix.dirname(file), decodeURIComponent(path)).replace(/\/$/, ''))
  return address === undefined || hash === undefined ? address : `${address}#${hash}`
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
const escapeAttribute = (text: string) =>
  text.replaceAll(/[<>"]|&(?!\w+;|#\d+;)/g, (found) => ENTITIES[found] ?? found)

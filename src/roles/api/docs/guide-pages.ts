import { extname } from 'node:path'
import type { Middleware } from 'koa'
import { notAllowed } from '../../../core/errors/errors.ts'
import { type Html, pagePolicy, renderPage, template } from '../../../core/http/html-page.ts'
import { createStaticContent, type StaticContent } from '../../../core/http/static-content.ts'
import { findGuides, findPictures, type Guide, readPicture, readRepositoryFile } from './guides.ts'
import { type FindAddress, renderMarkdown } from './markdown.ts'

const HOME = '/docs'
const PICTURE_TYPES: Readonly<Record<string, string>> = { '.png': 'image/png', '.svg': 'image/svg+xml' }

/** The guides of a section. */
interface Section {
  readonly name: string
  readonly id: string
  readonly guides: readonly Guide[]
}

const indexTemplate = template<{
  sections: readonly Section[]
}>(`<p class="lead">How to connect robots, drive them, build on
the platform and operate it. The <a href="/api/docs">API reference</a> describes every route.</p>
<div class="cards"><% for (const { name, id, guides } of it.sections) { %><section id="<%= id %>"><h2><%= name %></h2>
<ul><% for (const { address, title } of guides) { %><li><a href="<%= address %>"><%= title %></a></li>
<% } %></ul></section>
<% } %></div>`)

const guideTemplate = template<{
  heading: Html
  content: Html
  headings: ReturnType<typeof renderMarkdown>['headings']
  sections: readonly Section[]
  current: Guide
}>(`<div class="guide"><article><%= it.heading %>
<% if (it.headings.length > 1) { %><details class="contents"><summary>On this page</summary><ul>
<% for (const { id, text } of it.headings) { %><li><a href="#<%= id %>"><%= text %></a></li>
<% } %></ul></details>
<% } %><%= it.content %></article>
<nav aria-label="Guides"><a href="/docs">All guides</a>
<% for (const { name, guides } of it.sections) { %><h2><%= name %></h2>
<ul><% for (const { address, title } of guides) { %><li><a href="<%= address %>"<% if (address === it.current.address) { %> aria-current="page"<% } %>><%= title %></a></li>
<% } %></ul><% } %></nav></div>`)

/** Serves `/docs`: the documents of this repository as pages, with their pictures. Each is rendered once. */
export function guidePages(): Middleware {
  const contents = createContents()
  return async (http, next) => {
    const found = http.path === HOME || http.path.startsWith(`${HOME}/`) ? contents.get(http.path) : undefined
    if (!found) return await next()
    if (http.method !== 'GET' && http.method !== 'HEAD') throw notAllowed(http.method, ['GET', 'HEAD'])
    http.set('Content-Security-Policy', pagePolicy())
    await found.send(http)
  }
}

/** Returns whether the pictures that the front page shows are installed. */
export const hasPictures = (): boolean => findPictures().includes('images/cockpit.png')

function createContents(): ReadonlyMap<string, StaticContent> {
  const guides = findGuides()
  const pictures = findPictures()
  const findAddress = createAddressFinder(guides, pictures)
  const sections = sectionsOf(guides)
  const page = (load: () => string) => createStaticContent({ type: 'html', load })
  return new Map([
    [HOME, page(() => renderPage({ title: 'Guides', body: indexTemplate({ sections }), wide: true }))],
    ...guides.map((guide) => [guide.address, page(() => renderGuide(guide, sections, findAddress))] as const),
    ...pictures.map((name) => [`${HOME}/${name}`, picture(name)] as const),
  ])
}

function picture(name: string): StaticContent {
  const type = PICTURE_TYPES[extname(name)] ?? 'application/octet-stream'
  return createStaticContent({ type, load: () => readPicture(name), compress: type === 'image/svg+xml' })
}

function renderGuide(guide: Guide, sections: readonly Section[], findAddress: FindAddress): string {
  const { heading, html, headings } = renderMarkdown(readRepositoryFile(guide.file), guide.file, findAddress)
  return renderPage({
    title: `${guide.title} · Wheelhouse`,
    body: guideTemplate({
      heading,
      content: html,
      headings,
      sections: sections.filter(({ name }) => name !== 'Decisions' || guide.section === name),
      current: guide,
    }),
    wide: true,
    titled: true,
  })
}

function sectionsOf(guides: readonly Guide[]): Section[] {
  return [...Map.groupBy(guides, ({ section }) => section)].map(([name, members]) => ({
    name,
    id: name.toLowerCase(),
    guides: members,
  }))
}

/** Returns a function that finds the page of a document, a folder, a picture or the description of the API. */
function createAddressFinder(guides: readonly Guide[], pictures: readonly string[]): FindAddress {
  const addresses = new Map([
    ...guides.map(({ file, address }) => [file, address] as const),
    ...guides
      .filter(({ file }) => file.endsWith('/README.md'))
      .map(({ file, address }) => [file.replace(/\/README\.md$/, ''), address] as const),
    ...pictures.map((name) => [`docs/${name}`, `${HOME}/${name}`] as const),
    ['docs', HOME] as const,
    ['docs/openapi.json', '/api/openapi.json'] as const,
  ])
  const decisions = guides.some(({ file }) => file.startsWith('docs/decisions/'))
  if (decisions) addresses.set('docs/decisions', `${HOME}#decisions`)
  return (path) => addresses.get(path)
}

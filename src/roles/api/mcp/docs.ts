import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'

/** A page of the bundled documentation. */
export interface DocsPage {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly file: URL
}

const root = new URL('../../../../', import.meta.url)
const page = (name: string, path: string, title: string, description: string): DocsPage => ({
  name,
  title,
  description,
  file: new URL(path, root),
})

const all = [
  page('readme', 'README.md', 'Wheelhouse', 'Overview, and how to start Wheelhouse'),
  page('mcp', 'docs/mcp.md', 'MCP', 'This server: connecting, tools, resources, prompts'),
  page('specification', 'docs/specification.md', 'REST API', 'The behaviour of the routes in detail'),
  page(
    'protocol',
    'docs/protocol.md',
    'Wire protocol',
    'The frames between robots, operators and live clients',
  ),
  page('operations', 'docs/operations.md', 'Operations', 'Settings, limits, metrics, troubleshooting'),
  page('console', 'docs/console.md', 'Console', 'The web console, page by page'),
]

/** Returns the existing pages. An installation may not contain all of them. */
export const docsPages = (): DocsPage[] => all.filter(({ file }) => existsSync(file))

export const readDocs = ({ file }: DocsPage): Promise<string> => readFile(file, 'utf8')

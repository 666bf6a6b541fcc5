import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'

/** A page of the documentation that comes with the program. */
export interface DocsPage {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly file: URL
}

const root = new URL('../../../', import.meta.url)
const page = (name: string, path: string, title: string, description: string): DocsPage => ({
  name,
  title,
  description,
  file: new URL(path, root),
})

const all = [
  page('readme', 'README.md', 'Wheelhouse', 'What it is, and how to start it'),
  page('mcp', 'docs/mcp.md', 'MCP', 'This server: connecting, tools, resources, prompts'),
  page(
    'specification',
    'docs/specification.md',
    'REST API',
    'What the routes do where the specification is open',
  ),
  page(
    'protocol',
    'docs/protocol.md',
    'Wire protocol',
    'What robots, operators and live clients send each other',
  ),
  page('operations', 'docs/operations.md', 'Operations', 'Settings, limits, metrics, what to do when'),
  page('console', 'docs/console.md', 'Console', 'The web console, page by page'),
]

/** The pages that are there; an installation may have left some behind. */
export const docsPages = (): DocsPage[] => all.filter(({ file }) => existsSync(file))

export const readDocs = ({ file }: DocsPage): Promise<string> => readFile(file, 'utf8')

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
    'Addresses, credentials and close codes; its other pages',
  ),
  page(
    'protocol-robot',
    'docs/protocol-robot.md',
    'Wire protocol: robots',
    'The frames and duties of a robot',
  ),
  page(
    'protocol-operator',
    'docs/protocol-operator.md',
    'Wire protocol: operators and observers',
    'Tickets, the frames of operators and observers, stops',
  ),
  page(
    'protocol-hub',
    'docs/protocol-hub.md',
    'Wire protocol: hub',
    'The events and commands of live clients',
  ),
  page(
    'protocol-schemas',
    'docs/protocol-schemas.md',
    'Control and telemetry schemas',
    'The declaration of the commands and telemetry of a robot',
  ),
  page(
    'protocol-data-channel',
    'docs/protocol-data-channel.md',
    'Data channel',
    'Control over UDP, for robots and operators',
  ),
  page('operations', 'docs/operations.md', 'Operations', 'Processes, restarts, backup, limits, revocation'),
  page(
    'configuration',
    'docs/configuration.md',
    'Configuration',
    'Every setting, storage, identity provider',
  ),
  page('monitoring', 'docs/monitoring.md', 'Monitoring', 'Metrics, background work, failures, outages'),
  page('deliveries', 'docs/deliveries.md', 'Deliveries', 'Mail, browser push and webhooks'),
  page('console', 'docs/console.md', 'Console', 'The web console, page by page'),
]

/** Returns the existing pages. An installation may not contain all of them. */
export const docsPages = (): DocsPage[] => all.filter(({ file }) => existsSync(file))

export const readDocs = ({ file }: DocsPage): Promise<string> => readFile(file, 'utf8')

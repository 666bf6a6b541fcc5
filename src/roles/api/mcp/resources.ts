import { type McpServer, type ReadResourceResult, ResourceTemplate } from '@modelcontextprotocol/server'
import { type DocsPage, readDocs } from './docs.ts'
import { filterCandidates, type IdCandidate, type IdCandidates } from './id-candidates.ts'
import { withProtocolErrors } from './protocol-errors.ts'
import type { CallContext, RouteInput, RouteInvoker } from './route-invoker.ts'
import type { Route } from './tools/tool.ts'

interface Deps {
  readonly docs: readonly DocsPage[]
  readonly routes: RouteInvoker
  readonly ids: IdCandidates
  readonly report: (cause: unknown) => void
}

const JSON_TYPE = 'application/json'

/** Registers robots, sessions and the documentation as resources. Reading them has the same authorization as REST. */
export function addResources(mcp: McpServer, deps: Deps, context: CallContext): void {
  addDocs(mcp, deps)
  addLists(mcp, deps, context)
  addTemplates(mcp, deps, context)
}

function addDocs(mcp: McpServer, { docs, report }: Deps): void {
  for (const page of docs) {
    const { name, title, description } = page
    const uri = `wheelhouse://docs/${name}`
    const config = { title, description, mimeType: 'text/markdown' }
    mcp.registerResource(`docs-${name}`, uri, config, () =>
      withProtocolErrors(report, async () => ({
        contents: [{ uri, mimeType: 'text/markdown', text: await readDocs(page) }],
      })),
    )
  }
}

/** Returns a function that reads a resource from a route. */
function reader({ routes, report }: Deps, context: CallContext, route: Route) {
  return (uri: string, input: RouteInput): Promise<ReadResourceResult> =>
    withProtocolErrors(
      report,
      async () => {
        const { body } = await routes.call(route, input, context)
        return { contents: [{ uri, mimeType: JSON_TYPE, text: JSON.stringify(body) }] }
      },
      uri,
    )
}

function addLists(mcp: McpServer, deps: Deps, context: CallContext): void {
  if (context.caller.roles.includes('client')) {
    const read = reader(deps, context, 'GET /api/client/robots')
    const config = { title: 'Your robots', description: 'Newest first, up to 50', mimeType: JSON_TYPE }
    mcp.registerResource('robots', 'wheelhouse://robots', config, ({ href }) => read(href, {}))
  }
  const read = reader(deps, context, 'GET /api/sessions')
  const config = { title: 'Your sessions', description: 'The newest 20', mimeType: JSON_TYPE }
  mcp.registerResource('sessions', 'wheelhouse://sessions', config, ({ href }) =>
    read(href, { query: { limit: '20' } }),
  )
}

function addTemplates(mcp: McpServer, deps: Deps, context: CallContext): void {
  const { ids } = deps
  const robots = 'wheelhouse://robots/{id}'
  const sessions = 'wheelhouse://sessions/{id}'
  const robot = {
    title: 'A robot',
    description: 'One of your robots, with its settings',
    mimeType: JSON_TYPE,
  }
  const session = {
    title: 'A session',
    description: 'All fields of a session that you may see',
    mimeType: JSON_TYPE,
  }
  const log = {
    title: 'The log of a session',
    description: 'Its first 200 entries, oldest first',
    mimeType: JSON_TYPE,
  }
  const add = (
    name: string,
    uri: string,
    loadCandidates: () => Promise<IdCandidate[]>,
    config: typeof robot,
    route: Route,
  ) => {
    const read = reader(deps, context, route)
    const listed = name !== 'session-log' // listed with its session, so not listed separately
    mcp.registerResource(
      name,
      new ResourceTemplate(uri, {
        list: listed ? () => listOf(deps.report, loadCandidates, uri) : undefined,
        complete: {
          id: (typed) =>
            withProtocolErrors(deps.report, async () => filterCandidates(await loadCandidates(), typed)),
        },
      }),
      config,
      ({ href }, { id }) => read(href, { params: { id }, ...(!listed && { query: { limit: '200' } }) }),
    )
  }
  if (context.caller.roles.includes('client')) {
    add('robot', robots, ids.robots, robot, 'GET /api/client/robots/{id}')
  }
  add('session', sessions, ids.sessions, session, 'GET /api/sessions/{id}')
  add('session-log', `${sessions}/events`, ids.sessions, log, 'GET /api/sessions/{id}/events')
}

const listOf = (report: Deps['report'], loadCandidates: () => Promise<IdCandidate[]>, uri: string) =>
  withProtocolErrors(report, async () => ({
    resources: (await loadCandidates()).map(({ id, title }) => ({
      uri: uri.replace('{id}', id),
      name: id,
      title,
    })),
  }))

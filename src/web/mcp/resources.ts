import { type McpServer, type ReadResourceResult, ResourceTemplate } from '@modelcontextprotocol/server'
import { type DocsPage, readDocs } from './docs.ts'
import { type Ids, type Known, matching } from './ids.ts'
import { refusing } from './refusals.ts'
import type { Asking, RouteCalls, RouteInput } from './route-calls.ts'
import type { Route } from './tool.ts'

interface Parts {
  readonly docs: readonly DocsPage[]
  readonly routes: RouteCalls
  readonly ids: Ids
  readonly report: (cause: unknown) => void
}

const JSON_TYPE = 'application/json'

/** Robots, sessions and the documentation, under addresses of their own. Reading obeys the same rules as REST. */
export function addResources(mcp: McpServer, parts: Parts, asking: Asking): void {
  addDocs(mcp, parts)
  addLists(mcp, parts, asking)
  addThings(mcp, parts, asking)
}

function addDocs(mcp: McpServer, { docs, report }: Parts): void {
  for (const page of docs) {
    const { name, title, description } = page
    const uri = `wheelhouse://docs/${name}`
    const config = { title, description, mimeType: 'text/markdown' }
    mcp.registerResource(`docs-${name}`, uri, config, () =>
      refusing(report, async () => ({
        contents: [{ uri, mimeType: 'text/markdown', text: await readDocs(page) }],
      })),
    )
  }
}

/** Reads a resource from a route. */
function reader({ routes, report }: Parts, asking: Asking, route: Route) {
  return (uri: string, input: RouteInput): Promise<ReadResourceResult> =>
    refusing(
      report,
      async () => {
        const { body } = await routes.call(route, input, asking)
        return { contents: [{ uri, mimeType: JSON_TYPE, text: JSON.stringify(body) }] }
      },
      uri,
    )
}

function addLists(mcp: McpServer, parts: Parts, asking: Asking): void {
  if (asking.caller.roles.includes('client')) {
    const read = reader(parts, asking, 'GET /api/client/robots')
    const config = { title: 'Your robots', description: 'Newest first, up to 50', mimeType: JSON_TYPE }
    mcp.registerResource('robots', 'wheelhouse://robots', config, ({ href }) => read(href, {}))
  }
  const read = reader(parts, asking, 'GET /api/sessions')
  const config = { title: 'Your sessions', description: 'The newest 20', mimeType: JSON_TYPE }
  mcp.registerResource('sessions', 'wheelhouse://sessions', config, ({ href }) =>
    read(href, { query: { limit: '20' } }),
  )
}

function addThings(mcp: McpServer, parts: Parts, asking: Asking): void {
  const { ids } = parts
  const robots = 'wheelhouse://robots/{id}'
  const sessions = 'wheelhouse://sessions/{id}'
  const robot = {
    title: 'A robot',
    description: 'One of your robots, with its settings',
    mimeType: JSON_TYPE,
  }
  const session = { title: 'A session', description: 'A session in full, in your view', mimeType: JSON_TYPE }
  const log = {
    ...{ title: 'The log of a session', description: 'Its first 200 entries, oldest first' },
    mimeType: JSON_TYPE,
  }
  const add = (
    name: string,
    uri: string,
    known: () => Promise<Known[]>,
    config: typeof robot,
    route: Route,
  ) => {
    const read = reader(parts, asking, route)
    const listed = name !== 'session-log' // stands beside its session, so it need not be listed once more
    mcp.registerResource(
      name,
      new ResourceTemplate(uri, {
        list: listed ? () => listOf(parts.report, known, uri) : undefined,
        complete: { id: (typed) => refusing(parts.report, async () => matching(await known(), typed)) },
      }),
      config,
      ({ href }, { id }) => read(href, { params: { id }, ...(!listed && { query: { limit: '200' } }) }),
    )
  }
  if (asking.caller.roles.includes('client')) {
    add('robot', robots, ids.robots, robot, 'GET /api/client/robots/{id}')
  }
  add('session', sessions, ids.sessions, session, 'GET /api/sessions/{id}')
  add('session-log', `${sessions}/events`, ids.sessions, log, 'GET /api/sessions/{id}/events')
}

const listOf = (report: Parts['report'], known: () => Promise<Known[]>, uri: string) =>
  refusing(report, async () => ({
    resources: (await known()).map(({ id, title }) => ({ uri: uri.replace('{id}', id), name: id, title })),
  }))

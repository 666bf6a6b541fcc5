import type { CallToolResult } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { badRequest, toAppError } from '../../core/errors/errors.ts'
import { plainly } from '../../core/http/plain-issues.ts'
import { sessionOfRobot } from './robot-session.ts'
import type { Asking, RouteCalls, RouteInput } from './route-calls.ts'
import type { ToolSpec } from './tool.ts'
import { isHandedOn, PAGE, type Place, type ToolShape } from './tool-schemas.ts'

const Page = z.object({
  limit: z.number().int().min(1).max(PAGE.most).default(PAGE.usual),
  offset: z.number().int().min(0).max(10_000).default(0),
})

type Values = Readonly<Record<string, unknown>>

/**
 * Uses a tool as its caller. What the platform refuses is the answer of the tool, in the platform's words, so that
 * the model can read it and do better.
 */
export async function useTool(
  parts: { tool: ToolSpec; shape: ToolShape; routes: RouteCalls; report: (cause: unknown) => void },
  given: Values,
  asking: Asking,
): Promise<CallToolResult> {
  const { tool, shape, routes, report } = parts
  try {
    routes.admit(tool.route, asking.caller)
    const places = sorted(tool, shape, given)
    if (tool.orRobot) places.path.id = await sessionOf(places, routes, asking)
    const page = tool.pages ? Page.parse(places.page, plainly) : undefined
    const { body, replayed, total } = await routes.call(tool.route, inputOf(tool, places), asking)
    const structuredContent = handOn(tool, body, page, total)
    return {
      content: [{ type: 'text', text: JSON.stringify(structuredContent) }],
      structuredContent,
      ...(replayed && { _meta: { 'wheelhouse/replayed': true } }),
    }
  } catch (thrown) {
    const cause = inTheToolsWords(thrown, tool)
    const { status, message, bySetUp } = toAppError(cause)
    if (status >= 500 && !bySetUp) report(cause)
    return {
      content: [{ type: 'text', text: message }],
      isError: true,
      _meta: { 'wheelhouse/status': status },
    }
  }
}

/** The arguments by their place in a request over REST, those included that the tool adds. */
function sorted(
  tool: ToolSpec,
  { places }: ToolShape,
  given: Values,
): Record<Place, Record<string, unknown>> {
  const found: Record<Place, Record<string, unknown>> = {
    ...{ path: {}, query: {}, body: {} },
    ...{ page: {}, key: {}, robot: {} },
  }
  for (const [name, value] of Object.entries(given)) {
    const known = places.get(name)
    if (!known) throw badRequest(`${JSON.stringify(name).slice(0, 100)} is not an argument of this tool`)
    found[known.place][known.field] = value
  }
  for (const name of tool.required ?? []) {
    if (given[name] === undefined) throw badRequest(`${name}: is required`)
  }
  if (tool.limit && places.get('limit')?.place === 'query') found.query.limit ??= tool.limit
  return found
}

/** The session that a tool is meant for, named by its id or by its robot. */
async function sessionOf(
  { path, robot }: Record<Place, Record<string, unknown>>,
  routes: RouteCalls,
  asking: Asking,
): Promise<unknown> {
  if ((path.id === undefined) === (robot.robot === undefined))
    throw badRequest('Give either sessionId or robot')
  if (path.id !== undefined) return path.id
  if (typeof robot.robot !== 'string') throw badRequest('robot: must be text')
  return await sessionOfRobot(robot.robot, routes, asking)
}

function inputOf(tool: ToolSpec, places: Record<Place, Record<string, unknown>>): RouteInput {
  const key = places.key.idempotencyKey
  if (key !== undefined && typeof key !== 'string') throw badRequest('idempotencyKey: must be text')
  return {
    params: places.path,
    query: Object.fromEntries(Object.entries(places.query).map(([name, value]) => [name, inUrl(value)])),
    body: { ...places.body, ...tool.fixed },
    idempotencyKey: key,
  }
}

/** A number as it would stand in a URL; whatever is no text then, the schema refuses. */
const inUrl = (value: unknown) => (typeof value === 'number' ? String(value) : value)

/** What a route answered, as far as the tool hands it on. */
function handOn(
  tool: ToolSpec,
  body: unknown,
  page: z.infer<typeof Page> | undefined,
  total: number | undefined,
): Record<string, unknown> {
  const fields = (value: unknown) =>
    Object.fromEntries(Object.entries(Object(value)).filter(([name]) => isHandedOn(tool, name)))
  if (!tool.pages || !page) return fields(body)
  const list: unknown[] = Array.isArray(body) ? body : Reflect.get(Object(body), tool.pages)
  if (total !== undefined) return { [tool.pages]: list.map(fields), total }
  const { limit, offset } = page
  return { [tool.pages]: list.slice(offset, offset + limit).map(fields), total: list.length }
}

/** A problem with the `id` of the path is one with the argument that stands for it. */
function inTheToolsWords(cause: unknown, { id }: ToolSpec): unknown {
  if (!(cause instanceof z.ZodError) || !id) return cause
  return new z.ZodError(
    cause.issues.map((issue) => ({
      ...issue,
      path: issue.path[0] === 'id' ? [id, ...issue.path.slice(1)] : issue.path,
    })),
  )
}

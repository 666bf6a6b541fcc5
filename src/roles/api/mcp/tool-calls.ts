import type { CallToolResult } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { badRequest, toAppError } from '../../../core/errors/errors.ts'
import { isEmergencyStop } from '../../../core/http/request-authorization.ts'
import { parseOptions } from '../../../core/http/validation-messages.ts'
import type { DirectStop } from '../../../modules/sessions/index.ts'
import { sessionOfRobot } from './robot-session.ts'
import type { CallContext, RouteInput, RouteInvoker } from './route-invoker.ts'
import { type ArgumentLocation, isVisibleField, PAGE, type ToolShape } from './tool-schemas.ts'
import type { ToolSpec } from './tools/tool.ts'

const Page = z.object({
  limit: z.number().int().min(1).max(PAGE.maxLimit).default(PAGE.defaultLimit),
  offset: z.number().int().min(0).max(10_000).default(0),
})

type Values = Readonly<Record<string, unknown>>

/**
 * Calls a tool for its caller. An error of the platform becomes the result of the tool, with the message of the
 * platform, so that the model can read it and correct the call.
 */
export async function callTool(
  deps: {
    tool: ToolSpec
    shape: ToolShape
    routes: RouteInvoker
    directStop: DirectStop
    report: (cause: unknown) => void
  },
  given: Values,
  context: CallContext,
): Promise<CallToolResult> {
  const { tool, shape, routes, directStop, report } = deps
  try {
    routes.admit(tool.route, context.caller)
    const locations = argumentsByLocation(tool, shape, given)
    if (tool.acceptsRobot) locations.path.id = await sessionOf(locations, routes, context)
    const page = tool.listField ? Page.parse(locations.page, parseOptions) : undefined
    const call = routes.call(tool.route, inputOf(tool, locations), context)
    const { body, replayed, total } = await (isStopTool(tool)
      ? directStop({ ...context, ...stopOf(locations) }, call, ({ replayed }) => replayed)
      : call)
    const structuredContent = selectFields(tool, body, page, total)
    return {
      content: [{ type: 'text', text: JSON.stringify(structuredContent) }],
      structuredContent,
      ...(replayed && { _meta: { 'wheelhouse/replayed': true } }),
    }
  } catch (thrown) {
    const cause = renameIssuePaths(thrown, tool)
    const { status, message, byConfiguration: bySetUp } = toAppError(cause)
    if (status >= 500 && !bySetUp) report(cause)
    return {
      content: [{ type: 'text', text: message }],
      isError: true,
      _meta: { 'wheelhouse/status': status },
    }
  }
}

/** Returns whether a tool stops a robot. */
export const isStopTool = ({ fixed }: ToolSpec): boolean => isEmergencyStop(fixed)

/** Returns the session and the reason of a call that stops a robot. */
const stopOf = ({ path, body }: Record<ArgumentLocation, Record<string, unknown>>) => ({
  sessionId: String(path.id),
  reason: typeof body.reason === 'string' ? body.reason : undefined,
})

/** Returns the arguments by their location in a REST request, including the fixed arguments of the tool. */
function argumentsByLocation(
  tool: ToolSpec,
  { locations }: ToolShape,
  given: Values,
): Record<ArgumentLocation, Record<string, unknown>> {
  const found: Record<ArgumentLocation, Record<string, unknown>> = {
    path: {},
    query: {},
    body: {},
    page: {},
    key: {},
    robot: {},
  }
  for (const [name, value] of Object.entries(given)) {
    const known = locations.get(name)
    if (!known) throw badRequest(`${JSON.stringify(name).slice(0, 100)} is not an argument of this tool`)
    found[known.location][known.field] = value
  }
  for (const name of tool.required ?? []) {
    if (given[name] === undefined) throw badRequest(`${name}: is required`)
  }
  if (tool.limit && locations.get('limit')?.location === 'query') found.query.limit ??= tool.limit
  return found
}

/** Returns the id of the session that a call names, by its id or by its robot. */
async function sessionOf(
  { path, robot }: Record<ArgumentLocation, Record<string, unknown>>,
  routes: RouteInvoker,
  context: CallContext,
): Promise<unknown> {
  if ((path.id === undefined) === (robot.robot === undefined))
    throw badRequest('Send either sessionId or robot')
  if (path.id !== undefined) return path.id
  if (typeof robot.robot !== 'string') throw badRequest('robot: must be text')
  return await sessionOfRobot(robot.robot, routes, context)
}

function inputOf(tool: ToolSpec, locations: Record<ArgumentLocation, Record<string, unknown>>): RouteInput {
  const key = locations.key.idempotencyKey
  if (key !== undefined && typeof key !== 'string') throw badRequest('idempotencyKey: must be text')
  return {
    params: locations.path,
    query: Object.fromEntries(
      Object.entries(locations.query).map(([name, value]) => [name, toQueryValue(value)]),
    ),
    body: { ...locations.body, ...tool.fixed },
    idempotencyKey: key,
  }
}

/** Returns a number as text, as a URL contains it. The schema rejects other types. */
const toQueryValue = (value: unknown) => (typeof value === 'number' ? String(value) : value)

/** Returns the fields of a response that the tool exposes. */
function selectFields(
  tool: ToolSpec,
  body: unknown,
  page: z.infer<typeof Page> | undefined,
  total: number | undefined,
): Record<string, unknown> {
  // The route has an empty response.
  if (body === undefined || body === null) return { done: true }
  if (!tool.listField || !page) return visibleFields(tool, body)
  const { [tool.listField]: list = [], ...others } = (
    Array.isArray(body) ? { [tool.listField]: body } : body
  ) as Record<string, unknown[]>
  const entries = (shown: readonly unknown[]) => shown.map((entry) => visibleFields(tool, entry))
  if (total !== undefined) return { ...others, [tool.listField]: entries(list), total }
  const { limit, offset } = page
  return { ...others, [tool.listField]: entries(list.slice(offset, offset + limit)), total: list.length }
}

/** Returns the fields of an object without the hidden ones, also in its lists, and with the beginning of long lists. */
function visibleFields(tool: ToolSpec, value: unknown): Record<string, unknown> {
  const { hidden = [], shortened = {} } = tool
  const entryOf = (entry: unknown) =>
    typeof entry === 'object' && entry !== null
      ? Object.fromEntries(Object.entries(entry).filter(([name]) => !hidden.includes(name)))
      : entry
  return Object.fromEntries(
    Object.entries(Object(value))
      .filter(([name]) => isVisibleField(tool, name))
      .flatMap(([name, field]): [string, unknown][] => {
        if (!Array.isArray(field)) return [[name, field]]
        const longest = shortened[name]
        const shown = (longest === undefined ? field : field.slice(0, longest)).map(entryOf)
        return longest === undefined
          ? [[name, shown]]
          : [
              [name, shown],
              [`${name}_total`, field.length],
            ]
      }),
  )
}

/** Renames the path parameter `id` in validation errors to the argument of the tool. */
function renameIssuePaths(cause: unknown, { id }: ToolSpec): unknown {
  if (!(cause instanceof z.ZodError) || !id) return cause
  return new z.ZodError(
    cause.issues.map((issue) => ({
      ...issue,
      path: issue.path[0] === 'id' ? [id, ...issue.path.slice(1)] : issue.path,
    })),
  )
}

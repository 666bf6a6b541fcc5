import type { Tool, ToolAnnotations } from '@modelcontextprotocol/server'
import type { ApiKeyScope } from '@wheelhouse/protocol'
import type { Caller, Endpoint } from '../../../core/http/endpoint.ts'
import { hasScope, isPersonal, scopesOfRoute } from '../../../core/permissions/authorization.ts'
import { describeApi } from '../openapi/document.ts'
import type { FindRoute } from './route-invoker.ts'
import { shapeOf, type ToolShape } from './tool-schemas.ts'
import type { ToolSpec } from './tools/tool.ts'

/** A tool with its generated shape. */
export interface ReadyTool {
  readonly spec: ToolSpec
  readonly shape: ToolShape
  readonly definition: Tool
}

/** Creates the tools of this platform. They are generated from the routes on first use. */
export function createToolbox(deps: { specs: readonly ToolSpec[]; find: FindRoute; baseUrl: string }) {
  const { specs, find, baseUrl } = deps
  const routes = new Map(specs.map((spec) => [spec, find(spec.route)])) // an unknown route fails at the start
  let cached: ReadonlyMap<string, ReadyTool> | undefined

  function all(): ReadonlyMap<string, ReadyTool> {
    cached ??= make()
    return cached
  }

  function make(): ReadonlyMap<string, ReadyTool> {
    const document = describeApi({ endpoints: [...new Set(routes.values())], baseUrl })
    return new Map(
      [...routes].map(([spec, route]) => {
        const shape = shapeOf(spec, route, document)
        return [spec.name, { spec, shape, definition: definitionOf(spec, route, shape) }]
      }),
    )
  }

  return {
    byName: (name: string): ReadyTool | undefined => all().get(name),

    /** Returns the tools that the roles and the key of a caller permit. A call of another tool is rejected by its route, which says why. */
    listFor: (caller: Caller): Tool[] =>
      [...all().values()]
        .filter(({ spec }) => isFor(spec, find(spec.route), caller))
        .filter(({ spec }) => hasScope(caller.credential, scopesFor(spec, find(spec.route))))
        .map(({ definition }) => definition),
  }
}
export type Toolbox = ReturnType<typeof createToolbox>

function isFor({ roles }: ToolSpec, { access }: Endpoint, caller: Caller): boolean {
  if (access !== 'public' && access.person && !isPersonal(caller)) return false
  const needed = roles ?? (access !== 'public' && access.role ? [access.role] : undefined)
  return needed?.some((role) => caller.roles.includes(role)) ?? true
}

/** Returns the scopes of which an API key needs one for a tool. */
const scopesFor = ({ scopes }: ToolSpec, { access, method }: Endpoint): readonly ApiKeyScope[] =>
  scopes ?? (access === 'public' ? [] : scopesOfRoute(access, method))

function definitionOf(spec: ToolSpec, route: Endpoint, { inputSchema, outputSchema }: ToolShape): Tool {
  const { name, title } = spec
  // Models read the whole list: the scope that reads is named once, in the instructions.
  const scopes = scopesFor(spec, route)
    .filter((scope) => scope !== 'read')
    .join(' or ')
  return {
    name,
    title,
    description: `${spec.description ?? `${route.summary}.`}${scopes && ` Scope: ${scopes}.`}`,
    inputSchema,
    outputSchema,
    annotations: annotationsOf(spec, route),
  } as Tool // the type of JSON Schema does not express that its schemas are JSON
}

/**
 * Returns the hints of a tool, without those that equal the defaults of the protocol, because models read the whole
 * list.
 */
function annotationsOf({ hints = {} }: ToolSpec, route: Endpoint): ToolAnnotations {
  const { destructive = false, idempotent = false, openWorld = false } = hints
  return {
    ...(route.method === 'get' ? { readOnlyHint: true } : !destructive && { destructiveHint: false }),
    ...(idempotent && { idempotentHint: true }),
    ...(!openWorld && { openWorldHint: false }),
  }
}

import type { ApiKeyScope, Role } from '@wheelhouse/protocol'

/** A route of the REST API, as its endpoint declares it: `POST /api/sessions`. */
export type Route = `${'GET' | 'POST' | 'PATCH'} /api/${string}`

/**
 * A tool: a route with a name that a model understands. The endpoint declares arguments, response and access. A tool
 * declares only the differences.
 */
export interface ToolSpec {
  readonly name: string
  readonly title: string
  readonly route: Route
  /** The description, when the summary of the route is not sufficient. Ends with a period. */
  readonly description?: string
  /** The roles that can use the tool, when the access of the route is wider. Other callers do not see it. */
  readonly roles?: readonly Role[]
  /** The scopes of which an API key needs one, when the route decides by the action. None means that every key may call the tool. */
  readonly scopes?: readonly ApiKeyScope[]
  /** The name of the argument for the path parameter `id`. */
  readonly id?: string
  /** Whether the tool accepts the robot of an open session instead of the session id. */
  readonly acceptsRobot?: boolean
  /** Body fields with a fixed value. */
  readonly fixed?: Readonly<Record<string, unknown>>
  /** Fields of the route that the tool does not offer. */
  readonly omitted?: readonly string[]
  /** Arguments that the tool requires although they are optional in the route. */
  readonly required?: readonly string[]
  /** The default page size, smaller than over REST. */
  readonly limit?: number
  /**
   * The field of a list that the tool returns in pages. The route returns it as a whole, or in pages with a total. Other fields of
   * the response stay.
   */
  readonly listField?: string
  /** Response fields that the tool hides, also those of the entries of a list. */
  readonly hidden?: readonly string[]
  /** Lists of a response that can be long, and how many of their first entries the tool returns; `<name>_total` is the number of all. */
  readonly shortened?: Readonly<Record<string, number>>
  /** The only response fields that the tool exposes. */
  readonly selected?: readonly string[]
  readonly hints?: {
    /** The tool deletes or replaces data. Clients ask their user for confirmation. */
    readonly destructive?: boolean
    /** A repeated call has no further effect. */
    readonly idempotent?: boolean
    /** The tool affects another user or a robot. */
    readonly openWorld?: boolean
  }
}

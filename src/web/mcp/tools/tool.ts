import type { Role } from '@wheelhouse/protocol'

/** A route of the REST API, as its endpoint declares it: `POST /api/sessions`. */
export type Route = `${'GET' | 'POST' | 'PATCH'} /api/${string}`

/**
 * One tool: a route under a name that a model understands. What it takes, what it answers and who may use it stand
 * in the endpoint; here stands only what is different from there.
 */
export interface ToolSpec {
  readonly name: string
  readonly title: string
  readonly route: Route
  /** What it does and when to use it, where the summary of the route says less; ends with a period. */
  readonly description?: string
  /** Whose roles can ever use it, where the access of the route says less. Others are not shown it. */
  readonly roles?: readonly Role[]
  /** What the `id` in the path is called here. */
  readonly id?: string
  /** Whether it takes the robot of an open session in place of the session's id. */
  readonly acceptsRobot?: boolean
  /** Fields of the body that this tool decides itself. */
  readonly fixed?: Readonly<Record<string, unknown>>
  /** Fields of the route that this tool does not offer. */
  readonly omitted?: readonly string[]
  /** Arguments that must be given although the route does without. */
  readonly required?: readonly string[]
  /** How many entries come when nobody says: fewer than over REST. */
  readonly limit?: number
  /** The name of a list that the route answers as a whole, or in pages with a total; here it comes in pages. */
  readonly listField?: string
  /** Fields of the answer that are left out. */
  readonly hidden?: readonly string[]
  /** The only fields of the answer that are handed on. */
  readonly selected?: readonly string[]
  readonly hints?: {
    /** It takes something away, or puts something in its place. Clients ask their user before. */
    readonly destructive?: boolean
    /** Repeating it changes nothing more. */
    readonly idempotent?: boolean
    /** It reaches a person or a robot. */
    readonly openWorld?: boolean
  }
}

import {
  compileTelemetrySchema,
  type RobotSession,
  type TelemetryRules,
  TelemetrySchema,
} from '@wheelhouse/protocol'
import { DeclaredRules } from './declared-rules.ts'
import type { RobotLinkOptions } from './robot-link-options.ts'
import { safeCallback } from './safe-callback.ts'

type TelemetryCheckOptions = Pick<RobotLinkOptions, 'telemetrySchema' | 'onInvalidTelemetry' | 'onError'>

/** Checks the telemetry of a robot before it is sent. */
export class TelemetryCheck {
  readonly #options: TelemetryCheckOptions
  readonly #rules: DeclaredRules<TelemetrySchema, TelemetryRules>

  /** @throws ZodError if `telemetrySchema` is not a telemetry schema */
  constructor(options: TelemetryCheckOptions) {
    this.#options = options
    this.#rules = new DeclaredRules(
      options.telemetrySchema,
      (schema) => compileTelemetrySchema(TelemetrySchema.parse(schema)),
      options.onError,
    )
  }

  /** Applies the schema that the platform has declared for an open session. */
  follow(session: RobotSession | null): void {
    if (session) this.#rules.follow(session.telemetry_schema)
  }

  /** Returns whether the schema allows the sample. Reports the problem of any other. */
  allows(data: unknown): boolean {
    const problem = this.#rules.current?.problemOf(data)
    if (problem === undefined) return true
    safeCallback(this.#options.onError, () => this.#options.onInvalidTelemetry?.(problem))
    return false
  }
}

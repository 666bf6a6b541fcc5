import { safeCallback } from './safe-callback.ts'

/** A schema of the robot itself, or `platform` for the one that the platform has declared for the open session. */
export type DeclaredSchema<Schema> = Schema | 'platform'

/** The rules of a declared schema that apply at present. */
export class DeclaredRules<Schema, Rules> {
  readonly #compile: (schema: unknown) => Rules
  readonly #report: (cause: unknown) => void
  readonly #followsPlatform: boolean
  #rules: Rules | null = null
  /** The JSON text of the platform's schema. */
  #text = 'null'

  /**
   * @param onError receives the reason if this version does not understand the platform's schema
   * @throws ZodError if the robot's own schema is not one
   */
  constructor(
    schema: DeclaredSchema<Schema> | undefined,
    compile: (schema: unknown) => Rules,
    onError: ((cause: unknown) => void) | undefined,
  ) {
    this.#compile = compile
    this.#report = (cause) => safeCallback(undefined, () => onError?.(cause))
    this.#followsPlatform = schema === 'platform'
    if (schema !== undefined && schema !== 'platform') this.#rules = compile(schema)
  }

  /** Null without a schema. */
  get current(): Rules | null {
    return this.#rules
  }

  /** Applies the schema that the platform has declared; undefined for none. One that is not understood has no rules. */
  follow(declared: unknown): void {
    const text = JSON.stringify(declared ?? null)
    if (!this.#followsPlatform || text === this.#text) return
    this.#text = text
    this.#rules = null
    try {
      if (text !== 'null') this.#rules = this.#compile(declared)
    } catch (cause) {
      this.#report(cause)
    }
  }
}

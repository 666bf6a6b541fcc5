import { causesOf } from '../errors/error-causes.ts'

/** An error in the form that is sent between threads: the structured clone algorithm would drop its code. */
export interface TransferredError {
  readonly name: string
  readonly message: string
  readonly stack: string | undefined
  readonly code: string | undefined
  readonly cause: TransferredError | undefined
}

/** Converts anything thrown, with its causes. */
export function transferError(thrown: unknown): TransferredError {
  const causes = [...causesOf(thrown instanceof Error ? thrown : new Error(String(thrown)))]
  return causes.reduceRight<TransferredError | undefined>(
    (cause, error) => ({
      name: error.name,
      message: error.message,
      stack: error.stack,
      code: 'code' in error ? String(error.code) : undefined,
      cause,
    }),
    undefined,
  ) as TransferredError // there is at least one error
}

/** Restores an error with its code and causes. Its class is lost. */
export function restoreError({ name, message, stack, code, cause }: TransferredError): Error {
  const error = new Error(message, cause && { cause: restoreError(cause) })
  return Object.assign(error, { name, stack, ...(code !== undefined && { code }) })
}

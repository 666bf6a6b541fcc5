import { useMutation } from '@tanstack/react-query'
import { ApiError } from '@wheelhouse/sdk'
import { useState } from 'react'

const MAX_TRIES = 3
const MAX_WAIT_S = 5

/** Whether it is unknown if the request was carried out: only the same key may ask again. */
const isOutcomeUnknown = (error: unknown) =>
  !(error instanceof ApiError) || error.status === 0 || error.status >= 500 || error.retryAfterS !== undefined

/**
 * Hands each intention a key of its own. While its outcome is unknown the key stays, so that whoever asks again, by
 * a second click or after a lost answer, gets the answer of the first request instead of acting twice.
 */
export function createIdempotentSend<V, T>(send: (variables: V, idempotencyKey: string) => Promise<T>) {
  const keys = new Map<string, string>()
  const inFlight = new Map<string, Promise<T>>()

  async function sendWithKey(variables: V, name: string): Promise<T> {
    const key = keys.get(name) ?? crypto.randomUUID()
    keys.set(name, key)
    try {
      const answer = await withRetry(() => send(variables, key))
      keys.delete(name)
      return answer
    } catch (error) {
      if (!isOutcomeUnknown(error)) keys.delete(name)
      throw error
    }
  }

  return (variables: V): Promise<T> => {
    const name = JSON.stringify(variables) ?? ''
    const pending = inFlight.get(name)
    if (pending) return pending
    const request = sendWithKey(variables, name).finally(() => inFlight.delete(name))
    inFlight.set(name, request)
    return request
  }
}

/** The key makes it safe to ask again for an answer that was lost, or that the platform does not have yet. */
async function withRetry<T>(send: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await send()
    } catch (error) {
      const waitS = retryDelayS(error)
      if (waitS === undefined || waitS > MAX_WAIT_S || attempt === MAX_TRIES) throw error
      await new Promise((done) => setTimeout(done, waitS * 1_000))
    }
  }
}

/** Seconds after which it makes sense to ask again; undefined where it makes none. */
function retryDelayS(error: unknown): number | undefined {
  if (!(error instanceof ApiError)) return undefined
  return error.status === 0 ? 1 : error.retryAfterS
}

/** A change that is made once, however often it is asked for. Its variables tell one intention from another. */
export function useIdempotentMutation<V, T>(options: {
  send: (variables: V, idempotencyKey: string) => Promise<T>
  onSuccess: (answer: T, variables: V) => unknown
}) {
  const [idempotentSend] = useState(() => createIdempotentSend(options.send))
  return useMutation({ mutationFn: idempotentSend, onSuccess: options.onSuccess })
}

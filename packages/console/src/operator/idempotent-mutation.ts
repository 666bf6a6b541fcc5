import { type QueryKey, useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { ApiError, answerOf, type RestClient } from '@wheelhouse/sdk'
import { useCallback, useState } from 'react'
import { createPersisted } from '../base/persisted.ts'
import { usePlatform } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'

const MAX_ATTEMPTS = 3
const MAX_WAIT_S = 5

/** Returns whether the platform may have processed the request, so that a retry must use the same key. */
const isOutcomeUnknown = (error: unknown) =>
  !(error instanceof ApiError) || error.status === 0 || error.status >= 500 || error.retryAfterS !== undefined

/**
 * Assigns an idempotency key to each distinct request. The key stays the same while the outcome is unknown, so that a
 * second click or a retry after a lost response gets the first response instead of repeating the change.
 */
function createIdempotentSend<V, T>(send: (variables: V, idempotencyKey: string) => Promise<T>) {
  const keys = new Map<string, string>()
  const inFlight = new Map<string, Promise<T>>()

  async function sendWithKey(variables: V, name: string): Promise<T> {
    const key = keys.get(name) ?? crypto.randomUUID()
    keys.set(name, key)
    try {
      const response = await withRetry(() => send(variables, key))
      keys.delete(name)
      return response
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

/** Retries lost and pending responses. The idempotency key makes this safe. */
async function withRetry<T>(send: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await send()
    } catch (error) {
      const waitS = retryDelayS(error)
      if (waitS === undefined || waitS > MAX_WAIT_S || attempt === MAX_ATTEMPTS) throw error
      await new Promise((done) => setTimeout(done, waitS * 1_000))
    }
  }
}

/** Returns the seconds to wait before a retry, or undefined if a retry is pointless. */
function retryDelayS(error: unknown): number | undefined {
  if (!(error instanceof ApiError)) return undefined
  return error.status === 0 ? 1 : error.retryAfterS
}

/** Returns a mutation that runs once per distinct variables, even if it is submitted twice. */
export function useIdempotentMutation<V, T>(options: {
  send: (rest: RestClient, body: V, params: { header: { 'Idempotency-Key': string } }) => Promise<T>
  /** Roots of the queries that are read again. */
  refresh: readonly QueryKey[]
  onSuccess?: ((response: T) => unknown) | undefined
}) {
  const { rest } = usePlatform()
  const queries = useQueryClient()
  const [idempotentSend] = useState(() =>
    createIdempotentSend((body: V, key) => options.send(rest, body, { header: { 'Idempotency-Key': key } })),
  )
  return useMutation({
    mutationFn: idempotentSend,
    onSuccess: (response) => {
      for (const queryKey of options.refresh) void queries.invalidateQueries({ queryKey })
      return options.onSuccess?.(response)
    },
  })
}

interface SessionRequest {
  readonly robotId: string
  /** ISO 8601 with an offset. Starts now if omitted. */
  readonly scheduledFor?: string
  readonly plannedMinutes?: number
}

const useCreateSession = (onSuccess?: (session: { sessionId: string }) => unknown) =>
  useIdempotentMutation({
    send: (rest, body: SessionRequest, params) => answerOf(rest.POST('/api/sessions', { body, params })),
    refresh: [keys.sessions, keys.robots],
    onSuccess,
  })

export const useScheduleSession = () => useCreateSession()

/** Starts a session and opens its cockpit. @param options.replace whether the cockpit replaces the page in the history */
export function useStartNow({ replace = false } = {}) {
  const navigate = useNavigate()
  const start = useCreateSession(({ sessionId }) =>
    navigate({ to: '/drive/$sessionId', params: { sessionId }, replace }),
  )
  const { mutate } = start
  return { ...start, mutate: useCallback((robotId: string) => mutate({ robotId }), [mutate]) }
}

/** Whether the operator has driven off from the checks of a robot, stored in this browser. Without storage the checks are shown before every drive. */
const passed = (robotId: string) => createPersisted(`wheelhouse-preflight:${robotId}`, false, () => true)

/** Remembers that an operator has driven off from the checks of a robot. */
export const markPassed = (robotId: string): void => passed(robotId).set(true)

/** Returns a start that leads through the checks of a robot before the first drive with it: no drive without a look. */
export function useDriveNow() {
  const start = useStartNow()
  const navigate = useNavigate()
  const { mutate } = start
  const drive = useCallback(
    (robotId: string) => {
      if (passed(robotId).get()) mutate(robotId)
      else void navigate({ to: '/available/$robotId', params: { robotId } })
    },
    [mutate, navigate],
  )
  return { ...start, drive }
}

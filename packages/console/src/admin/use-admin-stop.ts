import { useMutation, useQueryClient } from '@tanstack/react-query'
import { ApiError, answerOf } from '@wheelhouse/sdk'
import { usePlatform } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import { stopReasons } from '../texts/code-texts.ts'

const RETRIES = 3
const RETRY_MS = 300
/** A hanging connection must not block the button. */
const REQUEST_TIMEOUT_MS = 3_000

/** Stops the robot of a session as an admin, and retries unanswered requests. */
export function useAdminStop(sessionId: string) {
  const { rest } = usePlatform()
  const queries = useQueryClient()
  return useMutation({
    mutationFn: () =>
      answerOf(
        rest.PATCH('/api/sessions/{id}', {
          params: { path: { id: sessionId } },
          body: { action: 'emergency_stop', reason: stopReasons.admin },
          signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
        }),
      ),
    // Without a network the request must fail now and not run later.
    networkMode: 'always',
    retry: (count, error) => count < RETRIES && !(error instanceof ApiError && isRejection(error.status)),
    retryDelay: RETRY_MS,
    onSuccess: () => void queries.invalidateQueries({ queryKey: keys.sessions }),
  })
}

const isRejection = (status: number) => status >= 400 && status < 500 && status !== 429

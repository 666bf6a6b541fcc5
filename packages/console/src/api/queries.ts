import { QueryClient } from '@tanstack/react-query'
import { ApiError } from '@wheelhouse/sdk'

const MAX_RETRIES = 3
const MAX_DELAY_MS = 10_000

/** Returns whether a retry may succeed. */
const isTransient = (error: unknown) =>
  !(error instanceof ApiError) || error.status === 0 || error.status === 429 || error.status >= 500

export const createQueries = () =>
  new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: 15_000,
        retry: (count, error) => count < MAX_RETRIES && isTransient(error),
        retryDelay: (count, error) => {
          const serverDelayMs = error instanceof ApiError ? (error.retryAfterS ?? 0) * 1000 : 0
          return Math.min(MAX_DELAY_MS, Math.max(serverDelayMs, 500 * 2 ** count))
        },
      },
    },
  })

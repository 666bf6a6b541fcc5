import { QueryClient } from '@tanstack/react-query'
import { ApiError } from '@wheelhouse/sdk'

const MAX_RETRIES = 3
const MAX_DELAY_MS = 10_000

/** Whether the same question may get another answer in a moment. */
const passes = (error: unknown) =>
  !(error instanceof ApiError) || error.status === 0 || error.status === 429 || error.status >= 500

export const createQueries = () =>
  new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: 15_000,
        retry: (count, error) => count < MAX_RETRIES && passes(error),
        retryDelay: (count, error) => {
          const asked = error instanceof ApiError ? (error.retryAfterS ?? 0) * 1000 : 0
          return Math.min(MAX_DELAY_MS, Math.max(asked, 500 * 2 ** count))
        },
      },
    },
  })

import { QueryClient } from '@tanstack/react-query'
import { ApiError } from '@wheelhouse/sdk'

/**
 * Roots of the query keys. All session queries begin with `['sessions']`, so that one live event invalidates them
 * together. A feature appends its own parts.
 */
export const keys = {
  profile: ['profile'],
  organizations: ['organizations'],
  invitations: ['invitations'],
  onboarding: ['onboarding'],
  clientProfile: ['client-profile'],
  operatorProfile: ['operator-profile'],
  apiKeys: ['api-keys'],
  webhooks: ['webhooks'],
  notifications: ['notifications'],
  notificationSettings: ['notification-settings'],
  push: ['push'],
  sessions: ['sessions'],
  cameras: ['cameras'],
  exports: ['exports'],
  dataExports: ['data-exports'],
  recordings: ['recordings'],
  robots: ['robots'],
  certifications: ['certifications'],
  datasets: ['datasets'],
  invoices: ['invoices'],
  pricing: ['pricing'],
  payouts: ['payouts'],
  stats: ['stats'],
  inbox: ['inbox'],
  audit: ['audit'],
  jobs: ['jobs'],
  users: ['users'],
} as const

const MAX_RETRIES = 3
const MAX_DELAY_MS = 10_000

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

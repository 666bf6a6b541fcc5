import { expect } from 'vitest'
import type { TestUser } from './test-user.ts'
import { waitFor } from './wait.ts'

/** More than a process has connections to its database. */
const CONCURRENT_REQUESTS = 12

/** Settles when the platform answers again after an outage of its database, on all its connections. */
export async function recovered(user: TestUser): Promise<void> {
  const ask = async () => expect((await user.get('/api/sessions')).status).toBe(200)
  await waitFor(ask)
  await waitFor(() => Promise.all(Array.from({ length: CONCURRENT_REQUESTS }, ask)))
}

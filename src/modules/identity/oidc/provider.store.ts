import type { Adapter, AdapterFactory, AdapterPayload } from 'oidc-provider'

/** Limits memory. It suffices for the codes, pending sign-ins and sessions of a development team. */
const MAX_ENTRIES = 5_000

interface Entry {
  readonly payload: AdapterPayload
  readonly expiresAt: number
}

/**
 * Stores the provider's state in memory. At the limit, it evicts the oldest entry. Other processes do not see the
 * state, so a sign-in must begin and end at the same api process.
 */
export function createProviderStore(now: () => number): AdapterFactory {
  const entries = new Map<string, Entry>()

  const live = (key: string): AdapterPayload | undefined => {
    const entry = entries.get(key)
    if (entry && entry.expiresAt > now()) return entry.payload
    entries.delete(key)
    return undefined
  }
  const findBy = (model: string, field: 'uid' | 'userCode', value: string) => {
    for (const [key, { payload }] of entries) {
      if (key.startsWith(`${model}:`) && payload[field] === value) return live(key)
    }
    return undefined
  }

  return (model): Adapter => {
    const keyOf = (id: string) => `${model}:${id}`
    return {
      async upsert(id, payload, expiresInSeconds) {
        entries.delete(keyOf(id)) // re-inserted at the end: a Map iterates in insertion order
        entries.set(keyOf(id), { payload, expiresAt: now() + (expiresInSeconds ?? Infinity) * 1000 })
        const [oldest] = entries.keys()
        if (entries.size > MAX_ENTRIES && oldest !== undefined) entries.delete(oldest)
      },
      find: async (id) => live(keyOf(id)),
      findByUid: async (uid) => findBy(model, 'uid', uid),
      findByUserCode: async (userCode) => findBy(model, 'userCode', userCode),
      async consume(id) {
        const payload = live(keyOf(id))
        if (payload) payload.consumed = Math.floor(now() / 1000)
      },
      async destroy(id) {
        entries.delete(keyOf(id))
      },
      async revokeByGrantId(grantId) {
        for (const [key, { payload }] of entries) if (payload.grantId === grantId) entries.delete(key)
      },
    }
  }
}

import type { ServerResponse } from 'node:http'
import { finished } from 'node:stream'
import type { Context } from 'koa'
import { createKeyedLimit } from '../concurrency/concurrency.ts'
import { AppError, unavailable } from '../errors/errors.ts'
import type { Guard } from '../process/guard.ts'
import { clientNetwork } from './client-address.ts'
import type { Caller } from './endpoint.ts'

/** Running downloads of a process: each holds a file and a connection. */
const MAX_DOWNLOADS = 1_000
/**
 * Running downloads with one credential. A replay with eight cameras reads them, its overview and its values at the same time,
 * and twice as many for a moment when the user seeks.
 */
const MAX_OF_CREDENTIAL = 32
const CHECK_MS = 500

const tooManyDownloads = () =>
  new AppError(
    429,
    'too_many_concurrent_requests',
    `You can run at most ${MAX_OF_CREDENTIAL} downloads at the same time. Wait until a download has finished.`,
    { headers: { 'Retry-After': '1' } },
  )

/** The credential of a download. The download ends with it. */
export interface DownloadCredential {
  /** The limit counts downloads by this key. */
  readonly key: string
  readonly userId?: string
  readonly permissionsVersion?: number
  readonly apiKeyId?: string
  readonly linkId?: string
  /** When an API key, a sign-in with the provider of an organization or a link expires. */
  readonly expiresAt?: Date | null
}

/** Reports credentials that have ended, possibly several times each. */
interface CredentialEnds {
  readonly keyRevoked: (apiKeyId: string) => void
  readonly permissionsChanged: (user: { readonly id: string; readonly permissions_version: number }) => void
  readonly linkEnded: (linkId: string) => void
}

/** Watches for the end of credentials, also of those that ended in the half minute before. */
export type WatchCredentials = (ends: CredentialEnds, openLinks: () => readonly string[]) => { close(): void }

/** Admits the body of a response. @throws AppError beyond a limit */
export type AdmitDownload = (response: ServerResponse) => Promise<void>

/** Returns the credential of a caller. A download may outlast a session of the platform's provider. */
export function credentialOfCaller({ userId, permissionsVersion, credential }: Caller): DownloadCredential {
  const isKey = credential.kind === 'api_key'
  return {
    key: isKey ? `key:${credential.id}` : `user:${userId}`,
    userId,
    permissionsVersion,
    ...(isKey && { apiKeyId: credential.id }),
    ...((isKey || credential.signIn) && { expiresAt: credential.expiresAt }),
  }
}

/** Returns the credential of a reader with a link. Readers of one link on several networks do not limit each other. */
export const credentialOfLink = (
  http: Context,
  { shareId, expiresAt }: { readonly shareId: string; readonly expiresAt: Date },
): DownloadCredential => ({ key: `link:${shareId} ${clientNetwork(http)}`, linkId: shareId, expiresAt })

/** Keeps the running downloads of this process. Limits their number, and ends them with their credentials. */
export function createDownloads(deps: {
  readonly watch: WatchCredentials
  readonly guard: Guard
  readonly now: () => Date
}) {
  const { watch, guard, now } = deps
  const running = new Map<ServerResponse, DownloadCredential>()
  const limit = createKeyedLimit({ concurrency: MAX_OF_CREDENTIAL, overloaded: tooManyDownloads })
  let watching: { close(): void } | undefined

  /** Ends downloads. Their clients see a closed connection, and the next request is refused. */
  function endWhere(matches: (credential: DownloadCredential) => boolean): void {
    for (const [response, credential] of running) if (matches(credential)) response.destroy()
  }

  const ends: CredentialEnds = {
    keyRevoked: (id) => endWhere(({ apiKeyId }) => apiKeyId === id),
    permissionsChanged: ({ id, permissions_version: version }) =>
      endWhere(({ userId, permissionsVersion = 0 }) => userId === id && permissionsVersion < version),
    linkEnded: (id) => endWhere(({ linkId }) => linkId === id),
  }

  function startWatching() {
    const openLinks = () => [...new Set([...running.values()].flatMap(({ linkId }) => linkId ?? []))]
    const watched = watch(ends, openLinks)
    const timer = guard.every('timer:downloads', CHECK_MS, () => {
      const at = now()
      endWhere(({ expiresAt }) => expiresAt != null && expiresAt <= at)
    })
    return {
      close() {
        clearInterval(timer)
        watched.close()
      },
    }
  }

  function add(response: ServerResponse, credential: DownloadCredential): void {
    if (running.size >= MAX_DOWNLOADS)
      throw unavailable('overloaded', 'Too many downloads are running. Try again shortly.')
    running.set(response, credential)
    watching ??= startWatching()
  }

  function remove(response: ServerResponse): void {
    running.delete(response)
    if (running.size > 0) return
    watching?.close()
    watching = undefined
  }

  return {
    get size() {
      return running.size
    },

    /** Returns the admission of downloads with a credential. */
    admit:
      (credential: DownloadCredential): AdmitDownload =>
      (response) =>
        new Promise((admitted, refuse) => {
          limit(credential.key, async () => {
            add(response, credential)
            admitted()
            await new Promise<void>((ended) => finished(response, () => ended()))
            remove(response)
          }).catch(refuse)
        }),
  }
}
export type Downloads = ReturnType<typeof createDownloads>

import type { ServerResponse } from 'node:http'
import { finished } from 'node:stream'
import { unavailable } from '../errors/errors.ts'
import type { Guard } from '../process/guard.ts'
import type { Caller } from './endpoint.ts'

/** Running downloads of a process: each holds a file and a connection. */
const MAX_DOWNLOADS = 1_000
const CHECK_MS = 500

/** The credential of a download. The download ends with it. */
export interface DownloadCredential {
  readonly userId?: string
  readonly permissionsVersion?: number
  readonly apiKeyId?: string
  readonly linkId?: string
  /** When an API key or a link expires. */
  readonly expiresAt?: Date | null
}

/** Reports credentials that have ended, possibly several times each. */
export interface CredentialEnds {
  readonly keyRevoked: (apiKeyId: string) => void
  readonly permissionsChanged: (user: { readonly id: string; readonly permissions_version: number }) => void
  readonly linkEnded: (linkId: string) => void
}

/** Watches for the end of credentials, also of those that ended in the half minute before. */
export type WatchCredentials = (ends: CredentialEnds, openLinks: () => readonly string[]) => { close(): void }

/** Admits the body of a response. @throws AppError beyond a limit */
export type AdmitDownload = (response: ServerResponse) => void

/** Returns the credential of a caller. A download of a signed-in user may outlast the login session. */
export function credentialOfCaller({ userId, permissionsVersion, credential }: Caller): DownloadCredential {
  const isKey = credential.kind === 'api_key'
  return {
    userId,
    permissionsVersion,
    ...(isKey && { apiKeyId: credential.id, expiresAt: credential.expiresAt }),
  }
}

/** Keeps the running downloads of this process. Limits their number, and ends them with their credentials. */
export function createDownloads(deps: {
  readonly watch: WatchCredentials
  readonly guard: Guard
  readonly now: () => Date
}) {
  const { watch, guard, now } = deps
  const running = new Map<ServerResponse, DownloadCredential>()
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
      (response) => {
        if (running.size >= MAX_DOWNLOADS)
          throw unavailable('overloaded', 'Too many downloads are running. Try again shortly.')
        running.set(response, credential)
        watching ??= startWatching()
        finished(response, () => remove(response))
      },
  }
}
export type Downloads = ReturnType<typeof createDownloads>

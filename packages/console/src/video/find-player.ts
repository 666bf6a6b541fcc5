import { playMjpeg } from './mjpeg.ts'
import { playPicture } from './picture.ts'
import type { Player } from './player.ts'
import { playFile, playHls } from './stream-file.ts'
import { playWhep } from './whep.ts'

const PROBE_TIMEOUT_MS = 5_000

/**
 * Which players to try, in order, by what an address answers. Only a camera that answers pages of other origins can
 * be looked at beforehand; for the others the address itself is a hint, and then each is tried.
 */
export async function playersFor(url: string, signal: AbortSignal): Promise<readonly Player[]> {
  const answer = await probe(url, signal)
  if (answer === undefined) return byAddress(url)
  if (answer.type.startsWith('multipart/x-mixed-replace')) return [playMjpeg, playPicture]
  if (answer.type.startsWith('image/')) return [playPicture]
  if (/mpegurl/.test(answer.type)) return [playHls]
  if (answer.type.startsWith('video/')) return [playFile]
  if (answer.status >= 500) throw new Error(`the camera answered ${answer.status}`)
  // WHEP servers do not say what they are to whoever only looks.
  return [playWhep]
}

function byAddress(url: string): readonly Player[] {
  const { pathname } = new URL(url, location.href)
  if (/\.m3u8$/i.test(pathname)) return [playHls]
  if (/whep\/?$/i.test(pathname)) return [playWhep]
  // A playlist that this page may not read could not be played either.
  return [playPicture, playWhep]
}

/** What an address answers; undefined if that is not for this page to see, or nobody answers. */
async function probe(
  url: string,
  signal: AbortSignal,
): Promise<{ status: number; type: string } | undefined> {
  const probeAbort = new AbortController()
  const ended = AbortSignal.any([signal, probeAbort.signal, AbortSignal.timeout(PROBE_TIMEOUT_MS)])
  try {
    const { status, headers } = await fetch(url, { signal: ended, credentials: 'same-origin' })
    return { status, type: headers.get('Content-Type')?.toLowerCase() ?? '' }
  } catch {
    signal.throwIfAborted()
    return undefined
  } finally {
    probeAbort.abort()
  }
}

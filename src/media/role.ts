import type { MediaSettings } from './forwarding/media-messages.ts'
import { type MediaNodeDeps, type RunningMediaNode, startMediaNode } from './media-node.ts'

interface MediaConfig {
  /** The listening address of this process. */
  readonly host: string
  readonly media: Omit<MediaSettings, 'bindAddress'>
}

/** Starts the media role of this process. */
export async function runMedia(
  deps: Omit<MediaNodeDeps, 'settings'> & { config: MediaConfig },
): Promise<RunningMediaNode> {
  const { host, media } = deps.config
  // The library listens on all addresses of both families without one.
  const bindAddress = host === '0.0.0.0' || host === '::' ? undefined : host
  return await startMediaNode({ ...deps, settings: { ...media, bindAddress } })
}

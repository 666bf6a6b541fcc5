import { createDownloads, type Downloads } from '../core/http/downloads.ts'
import { type RevocationSources, watchRevocations } from '../modules/identity/index.ts'
import { watchLinks } from '../modules/recordings/index.ts'

/** Creates the list of running downloads, which end with the API key, the user or the link of their request. */
export function createPlatformDownloads(
  deps: Omit<RevocationSources, 'guard'> & Omit<Parameters<typeof watchLinks>[0], 'guard'>,
  guard: RevocationSources['guard'],
): Downloads {
  const { now } = deps
  return createDownloads({
    guard,
    now,
    watch: (ends, openLinks) => {
      const watches = [
        watchRevocations({ ...deps, guard }, ends),
        watchLinks({ ...deps, guard }, openLinks, ends.linkEnded),
      ]
      return {
        close: () => {
          for (const watch of watches) watch.close()
        },
      }
    },
  })
}

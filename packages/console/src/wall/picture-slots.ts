import { createStore } from '../base/store.ts'

/** Most pictures that one page loads at the same time. */
const MAX_PICTURES = 9
/** Browsers open six connections to an origin over HTTP/1.1. Endless pictures must leave some for requests and stops. */
const MAX_PICTURES_PER_ORIGIN = 4

/** How long an idle tile keeps its picture while others wait. */
export const TURN_MS = 4_000

/** Shares a limited number of pictures among the visible tiles. */
export type PictureSlots = ReturnType<typeof createPictureSlots>

/** Creates the slots of one page. Earlier requests come first. */
export function createPictureSlots(limits = { total: MAX_PICTURES, perOrigin: MAX_PICTURES_PER_ORIGIN }) {
  const shown = createStore<ReadonlySet<string>>(new Set())
  let requests: { id: string; origin: string; isIdle: boolean }[] = []

  function update(next: typeof requests): void {
    requests = [...next.filter(({ isIdle }) => !isIdle), ...next.filter(({ isIdle }) => isIdle)]
    const granted = new Set<string>()
    const byOrigin = new Map<string, number>()
    for (const { id, origin } of requests) {
      const used = byOrigin.get(origin) ?? 0
      if (granted.size === limits.total) break
      if (used === limits.perOrigin) continue
      granted.add(id)
      byOrigin.set(origin, used + 1)
    }
    const before = shown.get()
    if (granted.size !== before.size || [...granted].some((id) => !before.has(id))) shown.set(granted)
  }
  const without = (id: string) => requests.filter((request) => request.id !== id)

  return {
    /** The robots whose pictures are loaded. */
    shown,
    /**
     * Requests the picture of a visible tile. It is shown as soon as there is a free slot.
     * @param isIdle whether it comes after the others, and gives its slot to the next idle one from time to time
     */
    request: (id: string, origin: string, isIdle = false) => update([...without(id), { id, origin, isIdle }]),
    /** Releases the slot of a tile that is no longer visible. */
    release: (id: string) => update(without(id)),
    /** Shows the picture of a waiting tile now, in place of the one that was requested last. */
    prefer(id: string): void {
      const preferred = requests.find((request) => request.id === id)
      if (preferred) update([{ ...preferred, isIdle: false }, ...without(id)])
    },
    /** Gives the slots of idle tiles to those that wait for longest. */
    turn(): void {
      const isResting = ({ id, isIdle }: (typeof requests)[number]) => isIdle && shown.get().has(id)
      if (requests.length > shown.get().size)
        update([...requests.filter((request) => !isResting(request)), ...requests.filter(isResting)])
    },
  }
}

import { useEffect, useState, useSyncExternalStore } from 'react'
import { usePlatform } from '../app/platform.ts'
import { ticketsFor } from './tickets.ts'
import { createWatching, type Watching, type WatchState } from './watching.ts'

/** The connection to the robot of a session, as long as the session is open and on the screen. */
export function useWatching(sessionId: string, open: boolean): Watching | undefined {
  const { rest } = usePlatform()
  const [watching, setWatching] = useState<Watching>()
  useEffect(() => {
    if (!open) return
    const made = createWatching(ticketsFor(rest, sessionId, 'watch'))
    setWatching(made)
    return () => {
      setWatching(undefined)
      made.close()
    }
  }, [rest, sessionId, open])
  return watching
}

const quiet = () => () => undefined

/** What a connection to a robot says; undefined without one. */
export const useWatchState = (watching: Watching | undefined): WatchState | undefined =>
  useSyncExternalStore(watching?.state.subscribe ?? quiet, () => watching?.state.get())

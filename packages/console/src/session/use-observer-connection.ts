import { useEffect, useState, useSyncExternalStore } from 'react'
import { usePlatform } from '../platform/platform.ts'
import {
  createObserverConnection,
  type ObserverConnection,
  type ObserverState,
} from './observer-connection.ts'
import { ticketsFor } from './tickets.ts'

/** Connects to the robot of an open session while the component is mounted. */
export function useObserverConnection(sessionId: string, open: boolean): ObserverConnection | undefined {
  const { rest } = usePlatform()
  const [observerConnection, setObserverConnection] = useState<ObserverConnection>()
  useEffect(() => {
    if (!open) return
    const opened = createObserverConnection(ticketsFor(rest, sessionId, 'watch'))
    setObserverConnection(opened)
    return () => {
      setObserverConnection(undefined)
      opened.close()
    }
  }, [rest, sessionId, open])
  return observerConnection
}

const noSubscription = () => () => undefined

/** Returns the state of an observer connection, undefined without one. */
export const useObserverState = (
  observerConnection: ObserverConnection | undefined,
): ObserverState | undefined =>
  useSyncExternalStore(observerConnection?.state.subscribe ?? noSubscription, () =>
    observerConnection?.state.get(),
  )

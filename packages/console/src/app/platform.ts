import type { RestClient } from '@wheelhouse/sdk'
import { createContext, useContext } from 'react'
import type { SessionGuard } from '../auth/session-guard.ts'
import type { Live } from '../live/live.ts'
import type { NavigationEntry } from './navigation.ts'

/** The clients that all parts of the page share. */
export interface Platform {
  readonly rest: RestClient
  readonly session: SessionGuard
  readonly live: Live
  readonly navigation: readonly NavigationEntry[]
}

export const PlatformContext = createContext<Platform | undefined>(undefined)

/** Returns the shared clients: `const { rest, live } = usePlatform()`. */
export function usePlatform(): Platform {
  const platform = useContext(PlatformContext)
  if (!platform) throw new Error('usePlatform() requires App')
  return platform
}

import type { Schemas } from '@wheelhouse/sdk'
import { createContext, useContext } from 'react'

export type Me = Schemas['Profile']

export const MeContext = createContext<Me | undefined>(undefined)

/** The signed-in person. Only below `SignedInOnly`. */
export function useMe(): Me {
  const me = useContext(MeContext)
  if (!me) throw new Error('useMe() is for what stands inside SignedInOnly')
  return me
}

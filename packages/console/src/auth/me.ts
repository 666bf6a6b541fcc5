import type { Schemas } from '@wheelhouse/sdk'
import { createContext, useContext } from 'react'

type Me = Schemas['Profile']

export const MeContext = createContext<Me | undefined>(undefined)

/** Returns the signed-in user. Requires `SignedInOnly` above. */
export function useMe(): Me {
  const me = useContext(MeContext)
  if (!me) throw new Error('useMe() requires SignedInOnly')
  return me
}

/** Returns whether the user takes part in no sessions, but administers those of others. */
export const isOnlyAdmin = ({ roles }: Pick<Me, 'roles'>): boolean =>
  roles.length === 1 && roles[0] === 'admin'

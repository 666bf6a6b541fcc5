import { useMe } from '../auth/me.ts'
import { groups, type NavigationEntry } from './navigation.ts'
import { usePlatform } from './platform.ts'

/** The navigation of the signed-in person, grouped by what they are here as; empty groups are left out. */
export function useNavigation(): { title: string; entries: NavigationEntry[] }[] {
  const { navigation } = usePlatform()
  const { roles } = useMe()
  return groups
    .filter(({ role }) => role === undefined || roles.includes(role))
    .map(({ role, title }) => ({ title, entries: navigation.filter((entry) => entry.role === role) }))
    .filter(({ entries }) => entries.length > 0)
}

import type { Role } from '@wheelhouse/protocol'
import type { FC } from 'react'

/** One link of the navigation. */
export interface NavigationEntry {
  /** A path of the router, without parameters: `/robots`. */
  readonly to: string
  readonly label: string
  /** One line for the home page. */
  readonly description: string
  readonly icon: FC<{ size?: number; stroke?: number }>
  /** Shown to people with this role; to everybody when left out. */
  readonly role?: Role
  /** Pages below its path have links of their own, and do not mark this one. */
  readonly exact?: boolean
}

/** Titles of the navigation's groups, in order. */
export const groups: readonly { readonly role: Role | undefined; readonly title: string }[] = [
  { role: 'operator', title: 'Operate' },
  { role: 'client', title: 'Own' },
  { role: 'admin', title: 'Administer' },
  { role: undefined, title: 'Account' },
]

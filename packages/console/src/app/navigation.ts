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
  /** Of everybody's daily work: stands above all groups. */
  readonly first?: boolean
  /** Pages below its path have links of their own, and do not mark this one. */
  readonly exact?: boolean
}

type Group = 'first' | Role | 'account'

export const groupOf = ({ first, role }: NavigationEntry): Group => (first ? 'first' : (role ?? 'account'))

/** The navigation's groups in order, with their titles. */
export const groups: readonly (readonly [Group, title: string])[] = [
  ['first', ''],
  ['operator', 'Operate'],
  ['client', 'Own'],
  ['admin', 'Administer'],
  ['account', 'Account'],
]

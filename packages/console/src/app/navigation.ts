import type { Role } from '@wheelhouse/protocol'
import type { FC } from 'react'
import { t } from '../texts/texts.ts'

/** A link of the navigation. */
export interface NavigationEntry {
  /** A route path without parameters, such as `/robots`. */
  readonly to: string
  readonly label: string
  /** A short description for the home page. */
  readonly description: string
  readonly icon: FC<{ size?: number; stroke?: number }>
  /** Limits the link to users with this role. */
  readonly role?: Role
  /** Hides the link from users without part in sessions: those who are only admins. */
  readonly participantsOnly?: boolean
  /** Puts the link above all groups. */
  readonly first?: boolean
  /** Marks the link as active on its exact path only, because subpaths have their own links. */
  readonly exact?: boolean
}

type Group = 'first' | Role | 'account'

export const groupOf = ({ first, role }: NavigationEntry): Group => (first ? 'first' : (role ?? 'account'))

/** The navigation groups in display order, with their titles. */
export const groups: readonly (readonly [Group, title: string])[] = [
  ['first', ''],
  ['operator', t('common.operator')],
  ['client', t('common.owner')],
  ['admin', t('app.navigation.admin')],
  ['account', t('common.account')],
]

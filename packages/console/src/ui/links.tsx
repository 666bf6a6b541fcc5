import { Anchor, Button, type ButtonProps, Card, type CardProps, NavLink } from '@mantine/core'
import { createLink } from '@tanstack/react-router'
import type { ComponentPropsWithRef } from 'react'

type WithoutStyleProps<P> = Omit<ComponentPropsWithRef<'a'>, keyof P>

// Without being told so, these are no links: nobody reaches a card with the keyboard then.
const ButtonAsLink = (props: ButtonProps & WithoutStyleProps<ButtonProps>) => (
  <Button component="a" {...props} />
)
const CardAsLink = (props: CardProps & WithoutStyleProps<CardProps>) => <Card component="a" {...props} />

/** Mantine's parts as links of the router; `to` and `params` are checked against the routes there are. */
export const LinkAnchor = createLink(Anchor<'a'>)
export const LinkButton = createLink(ButtonAsLink)
export const LinkCard = createLink(CardAsLink)
export const LinkNav = createLink(NavLink<'a'>)

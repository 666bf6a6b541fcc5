import { Anchor, Button, type ButtonProps, Card, type CardProps, NavLink } from '@mantine/core'
import { createLink } from '@tanstack/react-router'
import type { ComponentPropsWithRef } from 'react'

type WithoutStyleProps<P> = Omit<ComponentPropsWithRef<'a'>, keyof P>

// The `a` element makes them links. Otherwise the keyboard cannot reach a card.
const ButtonAsLink = (props: ButtonProps & WithoutStyleProps<ButtonProps>) => (
  <Button component="a" {...props} />
)
const CardAsLink = (props: CardProps & WithoutStyleProps<CardProps>) => <Card component="a" {...props} />

/** Mantine components as router links. The compiler checks `to` and `params` against the routes. */
export const LinkAnchor = createLink(Anchor<'a'>)
export const LinkButton = createLink(ButtonAsLink)
export const LinkCard = createLink(CardAsLink)
export const LinkNav = createLink(NavLink<'a'>)

/** Languages that have words for every path and value of the interface. */
export const languages = ['en', 'de', 'fr'] as const;
export type Language = (typeof languages)[number];

/** One text in each of {@link languages}, in their order. */
export type Wording = readonly [english: string, german: string, french: string];

/** Texts for each of these names. */
export type Terms<N extends string> = Readonly<Record<N, Wording>>;

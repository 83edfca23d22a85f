/** Languages in which every path and value of the interface has words for people. */
export const languages = ['en', 'de', 'fr'] as const;
export type Language = (typeof languages)[number];

/** The same in each of {@link languages}, in their order. */
export type Wording = readonly [english: string, german: string, french: string];

/** Words for each of these names. */
export type Terms<N extends string> = Readonly<Record<N, Wording>>;

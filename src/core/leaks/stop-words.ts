/** English words that tell nothing about a task: those of any sentence, and those of any rule about answers. */
export const STOP_WORDS: ReadonlySet<string> = new Set(
  `a an the this that it its is are was were be do does did has have can may
  and or not no yes if then when so as of in on at to for from by with about
  what which who where how many much there none one only all each any first
  answer question reply say give write use word words true false unknown end`.split(/\s+/),
);

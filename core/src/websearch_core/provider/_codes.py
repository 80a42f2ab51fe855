"""Tables of codes that several services know: all of ISO 3166-1 and ISO 639-1."""

from types import MappingProxyType

from ._languages import codes

COUNTRIES = codes("""
    AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ CA
    CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR GA
    GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP
    KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS
    MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS
    RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW
    TZ UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM ZW
""")
LOWER_COUNTRIES = MappingProxyType({code: code.lower() for code in COUNTRIES})

# In English and lower case, for services that take names instead of codes.
_COUNTRY_NAMES = """
af afghanistan, al albania, dz algeria, ad andorra, ao angola, ar argentina, am armenia, au australia, at austria,
az azerbaijan, bs bahamas, bh bahrain, bd bangladesh, bb barbados, by belarus, be belgium, bz belize, bj benin,
bt bhutan, bo bolivia, ba bosnia and herzegovina, bw botswana, br brazil, bn brunei, bg bulgaria, bf burkina faso,
bi burundi, kh cambodia, cm cameroon, ca canada, cv cape verde, cf central african republic, td chad, cl chile,
cn china, co colombia, km comoros, cg congo, cr costa rica, hr croatia, cu cuba, cy cyprus, cz czech republic,
dk denmark, dj djibouti, do dominican republic, ec ecuador, eg egypt, sv el salvador, gq equatorial guinea,
er eritrea, ee estonia, et ethiopia, fj fiji, fi finland, fr france, ga gabon, gm gambia, ge georgia, de germany,
gh ghana, gr greece, gt guatemala, gn guinea, ht haiti, hn honduras, hu hungary, is iceland, in india, id indonesia,
ir iran, iq iraq, ie ireland, il israel, it italy, jm jamaica, jp japan, jo jordan, kz kazakhstan, ke kenya,
kw kuwait, kg kyrgyzstan, lv latvia, lb lebanon, ls lesotho, lr liberia, ly libya, li liechtenstein, lt lithuania,
lu luxembourg, mg madagascar, mw malawi, my malaysia, mv maldives, ml mali, mt malta, mr mauritania, mu mauritius,
mx mexico, md moldova, mc monaco, mn mongolia, me montenegro, ma morocco, mz mozambique, mm myanmar, na namibia,
np nepal, nl netherlands, nz new zealand, ni nicaragua, ne niger, ng nigeria, kp north korea, mk north macedonia,
no norway, om oman, pk pakistan, pa panama, pg papua new guinea, py paraguay, pe peru, ph philippines, pl poland,
pt portugal, qa qatar, ro romania, ru russia, rw rwanda, sa saudi arabia, sn senegal, rs serbia, sg singapore,
sk slovakia, si slovenia, so somalia, za south africa, kr south korea, ss south sudan, es spain, lk sri lanka,
sd sudan, se sweden, ch switzerland, sy syria, tw taiwan, tj tajikistan, tz tanzania, th thailand, tg togo,
tt trinidad and tobago, tn tunisia, tr turkey, tm turkmenistan, ug uganda, ua ukraine, ae united arab emirates,
gb united kingdom, us united states, uy uruguay, uz uzbekistan, ve venezuela, vn vietnam, ye yemen, zm zambia,
zw zimbabwe
"""

COUNTRY_NAMES = MappingProxyType(
    {code.upper(): name for code, _, name in (entry.strip().partition(" ") for entry in _COUNTRY_NAMES.split(","))}
)

# Scripts are not part of ISO 639-1: these codes stand for the language in any script.
LANGUAGES = codes("""
    aa ab ae af ak am an ar as av ay az ba be bg bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz ee el
    en eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik io is it iu ja
    jv ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb nd
    ne ng nl nn no nr nv ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk sl sm sn so sq sr
    sr-latn=sr ss st su sv sw ta te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh
    zh-hant=zh zu
""")

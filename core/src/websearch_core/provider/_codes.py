"""Tables of codes that several services know: all of ISO 3166-1 and ISO 639-1, and
those of Google.
"""

from types import MappingProxyType

from ._languages import codes

COUNTRIES = codes("""
    AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN
    BO BQ BR BS BT BV BW BY BZ CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ
    DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR GA GB GD GE GF GG GH GI GL
    GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM
    JO JP KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME
    MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP
    NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW SA SB SC SD
    SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO
    TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM ZW
""")
LOWER_COUNTRIES = MappingProxyType({code: code.lower() for code in COUNTRIES})

# Scripts are not part of ISO 639-1: these codes stand for the language in any script.
LANGUAGES = codes("""
    aa ab ae af ak am an ar as av ay az ba be bg bi bm bn bo br bs ca ce ch co cr cs cu
    cv cy da de dv dz ee el en eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he
    hi ho hr ht hu hy hz ia id ie ig ii ik io is it iu ja jv ka kg ki kj kk kl km kn ko
    kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb nd
    ne ng nl nn no nr nv ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se
    sg si sk sl sm sn so sq sr sr-latn=sr ss st su sv sw ta te tg th ti tk tl tn to tr
    ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zh-hant=zh zu
""")

# https://developers.google.com/custom-search/docs/json_api_reference#interface-languages
GOOGLE_LANGUAGES = codes("""
    af am ar az be bg bn bs ca cs cy da de el en es et eu fa fi fr ga gd gl gu he=iw hi
    hr hu hy ia id is it ja jv=jw ka kk km kn ko la lo lt lv mk ml mr ms mt ne nl nn no
    oc pa pl pt-pt pt-br ro ru si sk sl sq sr su sv sw ta te th ti tk tl tr uk ur uz vi
    xh zh=zh-cn zh-hant=zh-tw zu
""")

# The languages that Google can restrict results to, with its parameter `lr`:
# https://developers.google.com/custom-search/docs/json_api_reference#language-collections
GOOGLE_RESULT_LANGUAGES = codes("""
    ar bg ca cs da de el en es et fi fr he=iw hr hu id is it ja ko lt lv nl no pl pt ro
    ru sk sl sr sv tr zh=zh-CN zh-hant=zh-TW
""")


# In English and lower case, for services that take names instead of codes.
COUNTRY_NAMES = codes("""
    AD=andorra AE=united+arab+emirates AF=afghanistan AL=albania AM=armenia AO=angola
    AR=argentina AT=austria AU=australia AZ=azerbaijan BA=bosnia+and+herzegovina
    BB=barbados BD=bangladesh BE=belgium BF=burkina+faso BG=bulgaria BH=bahrain
    BI=burundi BJ=benin BN=brunei BO=bolivia BR=brazil BS=bahamas BT=bhutan BW=botswana
    BY=belarus BZ=belize CA=canada CF=central+african+republic CG=congo CH=switzerland
    CL=chile CM=cameroon CN=china CO=colombia CR=costa+rica CU=cuba CV=cape+verde
    CY=cyprus CZ=czech+republic DE=germany DJ=djibouti DK=denmark DO=dominican+republic
    DZ=algeria EC=ecuador EE=estonia EG=egypt ER=eritrea ES=spain ET=ethiopia FI=finland
    FJ=fiji FR=france GA=gabon GB=united+kingdom GE=georgia GH=ghana GM=gambia GN=guinea
    GQ=equatorial+guinea GR=greece GT=guatemala HN=honduras HR=croatia HT=haiti
    HU=hungary ID=indonesia IE=ireland IL=israel IN=india IQ=iraq IR=iran IS=iceland
    IT=italy JM=jamaica JO=jordan JP=japan KE=kenya KG=kyrgyzstan KH=cambodia KM=comoros
    KP=north+korea KR=south+korea KW=kuwait KZ=kazakhstan LB=lebanon LI=liechtenstein
    LK=sri+lanka LR=liberia LS=lesotho LT=lithuania LU=luxembourg LV=latvia LY=libya
    MA=morocco MC=monaco MD=moldova ME=montenegro MG=madagascar MK=north+macedonia
    ML=mali MM=myanmar MN=mongolia MR=mauritania MT=malta MU=mauritius MV=maldives
    MW=malawi MX=mexico MY=malaysia MZ=mozambique NA=namibia NE=niger NG=nigeria
    NI=nicaragua NL=netherlands NO=norway NP=nepal NZ=new+zealand OM=oman PA=panama
    PE=peru PG=papua+new+guinea PH=philippines PK=pakistan PL=poland PT=portugal
    PY=paraguay QA=qatar RO=romania RS=serbia RU=russia RW=rwanda SA=saudi+arabia
    SD=sudan SE=sweden SG=singapore SI=slovenia SK=slovakia SN=senegal SO=somalia
    SS=south+sudan SV=el+salvador SY=syria TD=chad TG=togo TH=thailand TJ=tajikistan
    TM=turkmenistan TN=tunisia TR=turkey TT=trinidad+and+tobago TW=taiwan TZ=tanzania
    UA=ukraine UG=uganda US=united+states UY=uruguay UZ=uzbekistan VE=venezuela
    VN=vietnam YE=yemen ZA=south+africa ZM=zambia ZW=zimbabwe
""")
